"""Notices: one line on stderr about something that Leeway does otherwise than the script may expect."""

import sys


def say(text):
    print(f"leeway: {text}", file=sys.stderr, flush=True)


def say_once(session, topic, text):
    """Says it once in this process. All ranks run one script, so rank 0 speaks for all."""
    if topic in session.said:
        return
    session.said.add(topic)
    if session.rank == 0:
        say(text)
