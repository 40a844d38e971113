"""The web application, as granian serves it."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
os.environ.setdefault("GOODPUT_PROCESS", "web")

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
