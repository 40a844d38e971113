"""`manage.py create_user` makes a person who can log in, and says what they see."""

import secrets
import sys
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from ledger.management import tenants


class Command(BaseCommand):
    """A new user's password comes from standard input or is made up and printed once; saying it again adds only."""

    help = "Makes a user, or adds to what a user may see. Prints the password of a new one unless it is given."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--member", action="append", default=[], metavar="ORG/WORKSPACE")
        parser.add_argument("--admin", action="append", default=[], metavar="ORG", help="sees all of ORG")
        parser.add_argument("--operator", action="store_true", help="sees every organization")
        parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")

    def handle(
        self, *_: Any, name: str, member: list[str], admin: list[str], operator: bool, password_stdin: bool, **__: Any
    ) -> None:
        with transaction.atomic():
            user, new = tenants.make_user(name)
            lines = [tenants.said("user", user.username, new)]
            lines += [f"member of {path}" for path in member if tenants.member(user, path)]
            lines += [f"admin of {name}" for name in admin if tenants.admin(user, name)]
            if operator and not user.is_staff:
                user.is_staff = True
                lines.append("operator")
            if password_stdin:
                set_password(user, sys.stdin.readline().rstrip("\r\n"))
            elif new:
                lines.append(f"password: {set_password(user, secrets.token_urlsafe(15))}")
            user.save()
        self.stdout.write("\n".join(lines))


def set_password(user: User, password: str) -> str:
    """Give the user a password that the site's rules allow; return it. Raises CommandError."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from None
    user.set_password(password)
    return password
