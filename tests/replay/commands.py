"""Management commands as a person calls them."""

from io import StringIO

from django.core.management import call_command


def say(name: str, *arguments: str) -> list[str]:
    """Run a command and return the lines that it prints."""
    out = StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue().splitlines()
