"""Make a token and print it, alone, on standard output; it cannot be read again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ledger.models import Organization, Token, Workspace
from ledger.models.access import DAYS_MAX, SCOPES


class Command(BaseCommand):
    """`create_token --organization ORG [--workspace WS] --scopes read,ingest [--days N]`."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, help="the organization that it is of")
        parser.add_argument("--workspace", help="the only workspace that it reaches; without one, all of them")
        parser.add_argument("--scopes", required=True, help=f"one or more of {','.join(SCOPES)}")
        parser.add_argument("--days", type=int, help=f"how long it is valid, 1 to {DAYS_MAX}; without, for ever")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            organization = Organization.objects.get(name=options["organization"])
            name = options["workspace"]
            workspace = None if name is None else Workspace.objects.get(organization=organization, name=name)
            scopes = [scope.strip() for scope in options["scopes"].split(",")]
            _, plain = Token.issue(organization, workspace, scopes, options["days"])
        except Organization.DoesNotExist:
            raise CommandError(f"There is no organization {options['organization']}.") from None
        except Workspace.DoesNotExist:
            raise CommandError(f"There is no workspace {options['workspace']} in it.") from None
        except ValueError as error:
            raise CommandError(f"This token cannot be: {error}.") from None
        self.stdout.write(plain)
