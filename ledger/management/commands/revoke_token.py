"""End a token at once, named by its first 15 characters or by its whole text."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from knox.settings import CONSTANTS

from ledger.models import Token


class Command(BaseCommand):
    """`revoke_token goodput_1234567`."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("token", help="its first 15 characters, or all of it")

    def handle(self, *_: Any, **options: Any) -> None:
        key = options["token"][: CONSTANTS.TOKEN_KEY_LENGTH]
        ended = Token.objects.filter(token_key=key).delete()[0]
        if not ended:
            raise CommandError(f"There is no token that begins with {key}.")
        self.stdout.write(f"ended: {key}…")
