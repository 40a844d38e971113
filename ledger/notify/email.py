"""Mail, by the operator's SMTP server."""

import smtplib
from email.mime.image import MIMEImage

from django.core.exceptions import ValidationError
from django.core.mail import BadHeaderError, EmailMultiAlternatives
from django.core.validators import validate_email

from ledger.notify.message import Message, NotSent, Setup
from ledger.notify.patience import within

ALL_SECONDS = 20.0  # the mail server's own limits leave out the resolver


class Mail(EmailMultiAlternatives):
    """What is attached is part of what the text shows."""

    mixed_subtype = "related"


def send(target: str, _: str, message: Message, setup: Setup) -> None:
    """Send a message. Raises NotSent."""
    if not setup.mail_from:
        raise NotSent("no mail server is set up: the operator sets EMAIL_URL and EMAIL_FROM", for_good=True)
    text = f"{message.text}\n\n{message.link}\n" if message.link else f"{message.text}\n"
    headers = {"Message-ID": f"<{message.key}@goodput>", "Auto-Submitted": "auto-generated"}
    mail = Mail(message.title, text, setup.mail_from, [target], headers=headers)
    if message.html:
        mail.attach_alternative(message.html, "text/html")
    for name, png in message.images.items():
        image = MIMEImage(png, "png")
        image.add_header("Content-ID", f"<{name}>")
        image.add_header("Content-Disposition", "inline", filename=f"{name}.png")
        mail.attach(image)
    try:
        within(ALL_SECONDS, mail.send)
    except smtplib.SMTPRecipientsRefused:
        raise NotSent("the mail server does not take mail for this address", for_good=True) from None
    except BadHeaderError:
        raise NotSent("the message has a line break where there must be none", for_good=True) from None
    except (smtplib.SMTPException, OSError) as error:
        raise NotSent(f"the mail server did not take it ({type(error).__name__})") from None


def check(target: str, _: Setup) -> None:
    """Raise NotSent for what is no mail address."""
    try:
        validate_email(target)
    except ValidationError:
        raise NotSent("this is no mail address", for_good=True) from None
