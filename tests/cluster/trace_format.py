"""TraceFormat: checks a trace against the rules of Chrome's trace format, and finds events in it.

The format: "Trace Event Format" by Google. A viewer drops events that break these rules, and says nothing.
"""

import collections
import json


def read(path):
    """Returns the events of a trace. Raises AssertionError if they break a rule."""
    events = json.loads(path.read_text())["traceEvents"]
    names, spans, flows, slices = collections.defaultdict(set), {}, collections.defaultdict(list), collections.defaultdict(list)
    for event in events:
        phase = event["ph"]
        assert phase in "MbeXsfi", event
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and event["name"], event
        if phase == "M":
            names[event["name"]].add((event["pid"], event["tid"]))
            continue
        assert event["ts"] >= 0, event
        if phase == "b":
            key = event["cat"], event["id"]
            assert key not in spans, event
            spans[key] = event
        elif phase == "e":
            begin = spans.get((event["cat"], event["id"]))
            assert begin is not None and begin.get("end") is None, event
            assert event["name"] == begin["name"] and event["pid"] == begin["pid"] and event["ts"] >= begin["ts"], (begin, event)
            begin["end"] = event
        elif phase == "X":
            assert event["dur"] >= 0, event
            slices[event["pid"], event["tid"]].append(event)
        elif phase in "sf":
            flows[event["cat"], event["id"]].append(event)
    for span in spans.values():
        assert "end" in span, span
    pids = {event["pid"] for event in events}
    assert {pid for pid, _ in names["process_name"]} == pids
    assert set(slices) <= names["thread_name"]
    for ends in flows.values():
        # A frame may be lost with a process that was killed; an arrow without a beginning is our mistake.
        assert [end["ph"] for end in ends] in (["s"], ["s", "f"], ["f", "s"]), ends
        times = {end["ph"]: end["ts"] for end in ends}
        assert times["s"] <= times.get("f", times["s"]), ends
        for end in ends:
            assert _slice_at(slices[end["pid"], end["tid"]], end["ts"]), end
    for track in slices.values():
        _check_nesting(track)
    return events


def of(events, name, phase=None):
    return [event for event in events if event["name"] == name and phase in (None, event["ph"])]


def _slice_at(track, ts):
    return any(s["ts"] <= ts <= s["ts"] + s["dur"] for s in track)


def _check_nesting(track):
    """Slices of a thread lie beside each other or one in the other. The clock's last digit is a nanosecond."""
    open_slices = []
    for event in sorted(track, key=lambda s: (s["ts"], -s["dur"])):
        while open_slices and open_slices[-1]["ts"] + open_slices[-1]["dur"] <= event["ts"] + 0.0015:
            open_slices.pop()
        if open_slices:
            outer = open_slices[-1]
            assert event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 0.0015, (outer, event)
        open_slices.append(event)
