"""All settings, each from the environment. docs/operations.md has the table."""

from __future__ import annotations

import os
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from psycopg import IsolationLevel

from goodput_site import logs
from goodput_site.databases import ENGINE, NOWHERE, database_of, whole_number
from goodput_site.embedded import BROKER_DATABASE, DATABASE, ROLE, Server
from goodput_site.places import CHECKOUT, places
from goodput_site.secret import generated_key

environ.Env.ENVIRON = {name: value for name, value in os.environ.items() if value}  # empty is not set
env = environ.Env()

# --- where things are
BASE_DIR = CHECKOUT
PLACES = places()
EMBEDDED = not env.str("DATABASE_URL", "")
ASKED_BY_DOCTOR = env.bool("GOODPUT_DOCTOR", False)
PROCESS = env.str("GOODPUT_PROCESS", "command")

# --- security
DEBUG = False
SECRET_KEY = env.str("SECRET_KEY", "")
SECRET_KEY_IS_GENERATED = not SECRET_KEY
if SECRET_KEY_IS_GENERATED:
    if not EMBEDDED and not ASKED_BY_DOCTOR:
        raise ImproperlyConfigured(
            "SECRET_KEY must be set when DATABASE_URL is; `manage.py doctor` says what else is missing."
        )
    SECRET_KEY = generated_key(PLACES.secret_key if EMBEDDED else None)
LOOPBACK = ["127.0.0.1", "[::1]", "localhost"]
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=LOOPBACK)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", not EMBEDDED)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_PROXY", False) else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# --- parts
INSTALLED_APPS = [
    "goodput_site",
    "ledger",
    "dashboards",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "django_htmx",
    "csp",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ledger.audit.ActorMiddleware",
    "dashboards.zones.ZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dashboards.giving_up.GivingUpMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "goodput_site.urls"
WSGI_APPLICATION = "goodput_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["ledger.viewers.Backend"]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

# --- database
# A pool, which only the web needs, and session options, which a proxy that pools transactions would refuse.
SESSION_OPTIONS = "-c jit=off -c work_mem=32MB -c random_page_cost=1.1 -c idle_in_transaction_session_timeout=120000"
SESSION_OPTIONS += " -c plan_cache_mode=force_generic_plan"  # statements that are prepared are made for one plan
if PROCESS == "web":
    SESSION_OPTIONS += " -c statement_timeout=30000"
DATABASE_PROBLEM = ""
database: dict[str, Any]
if EMBEDDED:
    database = {"ENGINE": ENGINE, "NAME": DATABASE, "USER": ROLE, "HOST": str(PLACES.sockets), "PORT": "5432"}
else:
    try:
        database = database_of(env.str("DATABASE_URL"))
    except ImproperlyConfigured as error:
        if not ASKED_BY_DOCTOR:
            raise
        database, DATABASE_PROBLEM = dict(NOWHERE), str(error)
database["OPTIONS"] = {**database.get("OPTIONS", {}), "isolation_level": IsolationLevel.READ_COMMITTED}
if (session_options := env.str("DATABASE_SESSION_OPTIONS", SESSION_OPTIONS)) != "none":
    # Django sends no statement of its own in a way that can be prepared; ledger.sql does.
    database["OPTIONS"] |= {"options": session_options, "prepare_threshold": 5}
if PROCESS == "web":
    pool_max = whole_number(env.str("DATABASE_POOL_MAX", "10"), "DATABASE_POOL_MAX")
    database["OPTIONS"]["pool"] = {"min_size": 1, "max_size": pool_max, "timeout": 10}
database["CONN_MAX_AGE"] = 0
DATABASES = {"default": database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery
EMBEDDED_BROKER = "pgmq://embedded/"
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", EMBEDDED_BROKER if EMBEDDED else "")
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {}
if EMBEDDED_BROKER == CELERY_BROKER_URL and EMBEDDED:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "conn_string": Server(PLACES).conninfo(BROKER_DATABASE),
        "init_extension": False,
        "pool_size": 4,
        "pool_timeout": 5,
        "visibility_timeout": 300,
        "wait_time_seconds": 0,
        "polling_interval": 0.5,
    }

CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_ENABLE_REMOTE_CONTROL = CELERY_BROKER_URL != EMBEDDED_BROKER
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# --- time, language, static files
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.str("STATIC_ROOT", "" if EMBEDDED else str(BASE_DIR / "staticfiles")) or None
WHITENOISE_USE_FINDERS = EMBEDDED
STATIC_STORAGE = "StaticFilesStorage" if EMBEDDED else "ManifestStaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": f"django.contrib.staticfiles.storage.{STATIC_STORAGE}"},
}

# --- API
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
KNOX_TOKEN_MODEL = "ledger.Token"
MIGRATION_MODULES = {"knox": None}  # its own table would stay empty
REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Goodput",
    "DESCRIPTION": "Where the GPU time of a training cluster went: observations in, ledgers out.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": ["ledger.api.schema.with_components"],
}

# --- how often one may ask, in a minute; 0 = as often as one likes
THROTTLES = {
    "read": env.int("THROTTLE_READ", 1_200),
    "ingest": env.int("THROTTLE_INGEST", 6_000),
    "stranger": env.int("THROTTLE_STRANGER", 300),
}
NUM_PROXIES = env.int("NUM_PROXIES", 0)

# --- metrics
METRICS_NAMES_MAX = env.int("METRICS_NAMES_MAX", 5_000)
METRICS_TOKEN = env.str("METRICS_TOKEN", "")

# --- notifications
EMAIL_URL = env.str("EMAIL_URL", "")
EMAIL_HOST = EMAIL_FROM = ""
EMAIL_TIMEOUT = 10
if EMAIL_URL:
    vars().update({name: value for name, value in env.email_url("EMAIL_URL").items() if name.startswith("EMAIL_")})
    EMAIL_FROM = env.str("EMAIL_FROM", "goodput@localhost")
SITE_URL = env.str("SITE_URL", "")
NOTIFY_NETWORKS = env.list("NOTIFY_NETWORKS", default=[])
NOTIFY_PORTS = env.list("NOTIFY_PORTS", cast=int, default=[443, 8443])

# --- keeping
AUDIT_KEEP_DAYS = env.int("AUDIT_KEEP_DAYS", 1_100)

LOGGING = logs.configuration(env.str("LOG_LEVEL", "INFO"))
