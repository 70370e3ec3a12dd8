"""A tool for agents as a NATS micro service, with nothing but Python's standard library.

    python3 examples/services/weather.py nats://127.0.0.1:4222

Of several addresses, those of a cluster, it uses the next one when a server is gone. A server that does not let this user in, or not do what a
tool does, ends it: what a user needs is printed by `statecast permissions --role tool --service weather`, and the subject below is one of those.

Statecast nodes on that server find the tool `weather_forecast` by its metadata and give it to agents that may use services.
What is said on the wire: docs/reference/tools-as-services.md.
"""

import hashlib
import itertools
import json
import secrets
import socket
import sys
import threading
import time
from urllib.parse import unquote, urlsplit

SERVICE, VERSION, INSTANCE = "weather", "1.0.0", secrets.token_hex(11)
SUBJECT = "statecast.tools.weather.forecast"
ENDPOINT = {
    "name": "weather_forecast",
    "subject": SUBJECT,
    "queue_group": "q",
    "metadata": {
        "description": "Weather of a city for the next days, one line a day: made up, but always the same for the same city.",
        "schema": json.dumps(
            {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "minLength": 1, "description": "name of the city"},
                    "days": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "how many days, 3 unless given"},
                },
                "required": ["city"],
                "additionalProperties": False,
            }
        ),
        "onCrash": "retry",  # it changes nothing in the world, so it may run again when this process dies
        "timeoutMs": "120000",
    },
}
SECONDS_PER_DAY = 0.05  # it thinks: long enough to see progress, and to cancel
FIGURES = {"num_requests": 0, "num_errors": 0, "last_error": "", "processing_time": 0, "average_processing_time": 0}  # times in ns


class Refused(Exception):
    """The server does not allow something: trying again would not help."""


class Nats:
    """A connection that publishes, subscribes, and hands each message to its subscriber."""

    def __init__(self, url):
        address = urlsplit(url)
        self.socket = socket.create_connection((address.hostname or "127.0.0.1", address.port or 4222))
        self.input = self.socket.makefile("rb")
        self.sending = threading.Lock()
        self.listeners = {}
        self.last_id = 0
        self.closed = False
        self.input.readline()  # INFO, what the server can do
        options = {"verbose": False, "pedantic": False, "headers": True, "lang": "python", "version": VERSION, "name": SERVICE, "protocol": 1}
        if address.password is not None:
            options.update(user=unquote(address.username or ""), **{"pass": unquote(address.password)})
        elif address.username is not None:
            options.update(auth_token=unquote(address.username))
        self.send(f"CONNECT {json.dumps(options)}\r\nPING\r\n".encode())
        while (line := self.input.readline()) != b"PONG\r\n":
            self.check(line)

    def check(self, line):
        """Raises what the server complains of: -ERR 'Permissions Violation for Subscription to "x"'."""
        if line.startswith(b"-ERR"):
            words = line.decode()[4:].strip().strip("'")
            raise Refused(words) if "violation" in words.lower() else ConnectionError(words)
        if not line:
            raise ConnectionError("the server closed the connection")

    def send(self, data):
        with self.sending:
            self.socket.sendall(data)

    def publish(self, subject, body=b"", headers=None):
        if headers is None:
            return self.send(f"PUB {subject} {len(body)}\r\n".encode() + body + b"\r\n")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"NATS/1.0\r\n{lines}\r\n".encode()
        self.send(f"HPUB {subject} {len(head)} {len(head) + len(body)}\r\n".encode() + head + body + b"\r\n")

    def subscribe(self, subject, listener, queue=""):
        with self.sending:
            self.last_id += 1
            number = str(self.last_id)
            self.listeners[number] = listener
            self.socket.sendall(f"SUB {subject} {queue + ' ' if queue else ''}{number}\r\n".encode())
        return number

    def unsubscribe(self, number):
        self.listeners.pop(number, None)
        self.send(f"UNSUB {number}\r\n".encode())

    def run(self, ready):
        """Reads until the server closes the connection. What was subscribed to is allowed when it answers a ping: then it is ready."""
        self.send(b"PING\r\n")
        while line := self.input.readline():
            words = line.decode().split()
            if not words:
                continue
            if words[0] == "PING":
                self.send(b"PONG\r\n")
            elif words[0] == "PONG":
                ready()
            elif words[0] == "-ERR":
                self.check(line)
            elif words[0] in ("MSG", "HMSG"):
                # MSG subject id [reply] size; HMSG subject id [reply] head-size size
                sizes = 2 if words[0] == "HMSG" else 1
                head_size, size = int(words[-sizes]) if sizes == 2 else 0, int(words[-1])
                reply = words[3] if len(words) == 4 + sizes else None
                content = self.input.read(size + 2)[:size]
                listener = self.listeners.get(words[2])
                if listener:
                    listener(content[head_size:], parse_headers(content[:head_size]), reply)
        self.closed = True


def parse_headers(head):
    lines = head.decode().split("\r\n")[1:]
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}


def describe(nats):
    """What every micro service answers: PING, INFO and STATS, for all, for those of this name, and for this one process."""
    identity = {"name": SERVICE, "id": INSTANCE, "version": VERSION, "metadata": {}}
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    plain = {key: ENDPOINT[key] for key in ("name", "subject", "queue_group")}
    answers = {
        "PING": lambda: {"type": "io.nats.micro.v1.ping_response", **identity},
        "INFO": lambda: {"type": "io.nats.micro.v1.info_response", **identity, "description": "weather for agents", "endpoints": [ENDPOINT]},
        "STATS": lambda: {"type": "io.nats.micro.v1.stats_response", **identity, "started": started, "endpoints": [{**plain, **FIGURES}]},
    }
    for verb, answer in answers.items():
        for whom in ("", f".{SERVICE}", f".{SERVICE}.{INSTANCE}"):
            nats.subscribe(f"$SRV.{verb}{whom}", lambda _, __, reply, answer=answer: reply and nats.publish(reply, json.dumps(answer()).encode()))


def count(began, error=""):
    FIGURES["num_requests"] += 1
    FIGURES["processing_time"] += time.monotonic_ns() - began
    FIGURES["average_processing_time"] = FIGURES["processing_time"] // FIGURES["num_requests"]
    if error:
        FIGURES["num_errors"] += 1
        FIGURES["last_error"] = error


def forecast(nats, body, headers, reply):
    """One call. It says who works, then what it is doing, then the result; it stops when it is told to."""
    began = time.monotonic_ns()
    cancelled = threading.Event()
    cancel_on = headers.get("Statecast-Cancel")
    listening = nats.subscribe(cancel_on, lambda *_: cancelled.set()) if cancel_on else None
    try:
        nats.publish(reply, b"", {"Statecast-Worker": INSTANCE})
        wish = json.loads(body)
        city, days = wish["city"], wish.get("days", 3)
        lines = []
        for day in range(1, days + 1):
            if cancelled.wait(SECONDS_PER_DAY):
                print(f"cancelled {headers.get('Statecast-Call-Id')}", flush=True)
                return
            nats.publish(reply, b"", {"Statecast-Progress": f"day {day} of {days}"})
            chance = hashlib.sha256(f"{city} {day}".encode()).digest()
            lines.append(f"day {day}: {('sun', 'clouds', 'rain', 'wind')[chance[0] % 4]}, {chance[1] % 35} degrees")
        nats.publish(reply, json.dumps({"city": city, "forecast": lines}).encode())
        count(began)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"this is no request for weather: {error!r}"
        nats.publish(reply, b"", {"Nats-Service-Error": problem, "Nats-Service-Error-Code": "400"})
        count(began, problem)
    except OSError:
        return  # the connection is gone, and with it whoever asked
    finally:
        if listening and not nats.closed:
            nats.unsubscribe(listening)


def main():
    for url in itertools.cycle(sys.argv[1:] or ["nats://127.0.0.1:4222"]):
        try:
            nats = Nats(url)
            describe(nats)
            # A thread for each call, so that this one goes on answering pings.
            nats.subscribe(SUBJECT, lambda *call: threading.Thread(target=forecast, args=(nats, *call), daemon=True).start(), queue="q")
            nats.run(ready=lambda: print(f"{SERVICE} {INSTANCE} serves {SUBJECT}", flush=True))
        except Refused as error:
            server = url.rpartition("@")[2]
            sys.exit(f"{server} refuses this user: {error}\n`statecast permissions --role tool --service weather` prints the permissions that a tool needs")
        except OSError as error:
            print(f"{url.rpartition('@')[2]}: {error}", file=sys.stderr)
        time.sleep(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
