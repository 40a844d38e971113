"""The web application, as granian serves it."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "goodput_site.settings")
os.environ.setdefault("GOODPUT_PROCESS", "web")

from django.core.wsgi import get_wsgi_application

from goodput_site.garbage import collect_seldom
from goodput_site.processes import die_with_supervised_parent

die_with_supervised_parent()
application = get_wsgi_application()
collect_seldom()
