"""Drives real servers over loopback: integration.py SERVER-WITH-SANITIZERS SERVER-WITH-SHORT-TIMES SERVER-WITH-LITTLE-ROOM
RELEASED-SERVER MIMALLOC-FLAGS COMPILER SERVER-WITH-THREAD-SANITIZER UNHURRIED-SERVER.

Those with sanitizers give their clients an hour, and the unhurried one and that with the thread sanitizer do so after SIGTERM, too."""

import http.client
import io
import json
import os
import random
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PATIENT, SHORT, TIGHT, RELEASE, MIMALLOC, COMPILER, TSAN, UNHURRIED = sys.argv[1:9]
PATIENCE = 300
STALL_SECONDS = 1.5  # of the server with short times
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
LINE = b"helloworld\n"


def made(size):
    return (LINE * (size // len(LINE) + 1))[:size]


class Server:
    def __init__(self, program, *flags, files=None):
        # Bound and not listening, it keeps the port from all but a server that asks for it by SO_REUSEADDR.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.port = self.reserved.getsockname()[1]
        limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen([program, f"--port={self.port}", *flags], stdout=subprocess.DEVNULL, stderr=self.log, preexec_fn=limit)
        deadline = time.time() + PATIENCE
        while True:
            try:
                self.connect().close()
                return
            except ConnectionRefusedError:
                if time.time() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"{program} does not listen: {self.errors()}") from None
                time.sleep(0.001)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        status = self.stop()
        if status != 0:
            raise AssertionError(f"the server ended with {status}: {self.errors()}")

    def stop(self):
        """Sends SIGTERM and returns the status with which the server ends."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "a kill"
        self.reserved.close()
        return status

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def connect(self, receive_buffer=None):
        s = socket.socket()
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(PATIENCE)
        s.connect(("127.0.0.1", self.port))
        return s

    def get(self, path, method="GET", body=None, **headers):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        c.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        r = c.getresponse()
        content = r.read()
        c.close()
        return r, content

    def memory(self):
        """The bytes of the server's own pages. The kernel counts these exactly: statm may be 64 pages per CPU off, and pages of the program
        itself come and go as the kernel reclaims them."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as f:
            sizes = dict(line.split(":") for line in f.readlines()[1:])
        return sum(int(sizes[name].split()[0]) << 10 for name in ("Anonymous", "Swap"))

    def stats(self):
        return json.loads(self.get("/stats")[1])


class Client:
    """A connection whose answers are read one by one."""

    def __init__(self, server, **how):
        self.socket = server.connect(**how)
        self.input = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def head(self):
        line = self.input.readline()
        if not line:
            raise EOFError
        headers = {}
        while (h := self.input.readline()) not in (b"\r\n", b""):
            name, value = h.decode().split(":", 1)
            headers[name.lower()] = value.strip()
        return int(line.split()[1]), headers

    def answer(self):
        status, headers = self.head()
        size = int(headers.get("content-length", 0))
        body = self.input.read(size)
        if len(body) != size:
            raise EOFError
        return status, headers, body

    def closed(self):
        try:
            return self.input.read(1) == b""
        except ConnectionResetError:
            return True


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PATIENT)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_pages_have_their_sizes(self):
        for path, size in {"/": 10, "/small": 1 << 10, "/medium": 10 << 10, "/large": 100 << 10}.items():
            r, body = self.server.get(path)
            self.assertEqual((r.status, len(body), r.getheader("content-type")), (200, size, "text/plain"), path)
            self.assertEqual(len(set(body)) == 1, path != "/", path)
            r, body = self.server.get(path, "HEAD")
            self.assertEqual((r.status, r.getheader("content-length"), body), (200, str(size), b""), path)
        self.assertEqual(json.loads(self.server.get("/json")[1])["message"], "helloworld")

    def test_the_server_says_that_it_is_there(self):
        r, body = self.server.get("/health")
        self.assertEqual((r.status, body), (200, b"ok\n"))

    def test_a_loop_that_was_kept_from_running_says_so(self):
        with Server(PATIENT) as server:
            while server.stats()["requests"] < 2:
                time.sleep(0.3)  # the clock has been looked at
            os.kill(server.process.pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(server.process.pid, signal.SIGCONT)
            until(lambda: server.stats()["loop"]["mostLateMilliseconds"] >= 500, "it does not say so")

    def test_made_files_are_what_they_are_said_to_be(self):
        for name, size in {"12b.txt": 12, "10k.bin": 10 << 10, "100k.bin": 100 << 10, "1m.bin": 1 << 20, "10m.bin": 10 << 20}.items():
            for _ in range(2):
                r, body = self.server.get("/static/" + name)
                self.assertEqual(r.status, 200)
                self.assertTrue(body == made(size), name)

    def test_a_file_that_is_known_is_not_sent_again(self):
        for name in ("12b.txt", "1m.bin"):
            r, _ = self.server.get("/static/" + name)
            etag, date = r.getheader("etag"), r.getheader("last-modified")
            for conditions, want in (
                ({"If_None_Match": etag}, 304), ({"If_None_Match": 'W/"x", ' + etag}, 304), ({"If_Modified_Since": date}, 304),
                ({"If_None_Match": '"x"'}, 200), ({"If_None_Match": '"x"', "If_Modified_Since": date}, 200),
                ({"If_Modified_Since": "Sun, 06 Nov 1994 08:49:37 GMT"}, 200),
            ):
                r, body = self.server.get("/static/" + name, **conditions)
                self.assertEqual(r.status, want, conditions)
                self.assertEqual(r.getheader("etag"), etag)
                self.assertEqual(len(body) == 0, want == 304)

    def test_every_bad_request_gets_its_status_and_the_end(self):
        h = b"Host: h\r\n"
        for text, want in {
            b"nonsense\r\n\r\n": 400, b"GET / HTTP/1.1\r\n\r\n": 400, b"GET / HTTP/1.1\nHost: h\n\n": 400,
            b"GET / HTTP/1.1\r\n" + h + b" folded\r\n\r\n": 400, b"GET / HTTP/3.0\r\n" + h + b"\r\n": 505,
            b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\n" + h + b"\r\n": 414, b"GET /" + b"x" * 50000: 414,
            b"GET / HTTP/1.1\r\n" + h + b"X: " + b"x" * 9000 + b"\r\n\r\n": 431,
            b"POST /echo HTTP/1.1\r\n" + h + b"Content-Length: 65537\r\n\r\n": 413,
            b"POST /echo HTTP/1.1\r\n" + h + b"Content-Length: 99999999999999999999\r\n\r\n" + b"x" * 500000: 413,
            b"POST /echo HTTP/1.1\r\n" + h + b"Transfer-Encoding: chunked\r\n\r\n10001\r\n": 413,
            b"POST /echo HTTP/1.1\r\n" + h + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n": 400,
            b"POST /echo HTTP/1.1\r\n" + h + b"Transfer-Encoding: gzip\r\n\r\n": 501,
            b"POST /echo HTTP/1.1\r\n" + h + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n": 400,
            b"GET / HTTP/1.1\r\n" + h + b"Expect: wonders\r\n\r\n": 417,
        }.items():
            with Client(self.server) as c:
                c.send(GET + text)
                self.assertEqual(c.answer()[0], 200, text[:60])
                status, headers, _ = c.answer()
                self.assertEqual((status, headers.get("connection")), (want, "close"), text[:60])
                self.assertTrue(c.closed(), text[:60])

    def test_other_refusals_keep_the_connection(self):
        with Client(self.server) as c:
            for line, want, allow in (
                (b"GET /nothing", 404, None), (b"BREW /", 405, "GET, HEAD"), (b"POST /static/12b.txt", 405, "GET, HEAD"), (b"GET /echo", 405, "POST"),
                (b"GET /static/nothing", 404, None), (b"GET /static/", 404, None), (b"GET /static", 404, None),
            ):
                c.send(line + b" HTTP/1.1\r\nHost: h\r\n\r\n")
                status, headers, _ = c.answer()
                self.assertEqual((status, headers.get("allow")), (want, allow), line)
            c.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 40000\r\n\r\n" + b"x" * 40000 + GET)
            self.assertEqual([c.answer()[0], c.answer()[0]], [405, 200])

    def test_paths_do_not_lead_out(self):
        with Client(self.server) as c:
            for path, want in {"/static/../etc/passwd": 400, "/static/%2e%2e/passwd": 400, "/static/..%2fpasswd": 400, "/static//etc/passwd": 404,
                               "/static/a%00b": 400, "/static/.hidden": 404, "/%6a%73on": 200, "/static/%31%32b.txt": 200}.items():
                c.send(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: h\r\n\r\n")
                self.assertEqual(c.answer()[0], want, path)

    def test_bodies_come_back(self):
        for size in (0, 1, 4095, 4096, 4097, 8192, 65536):
            body = random.Random(size).randbytes(size)
            r, got = self.server.get("/echo", "POST", body)
            self.assertEqual(r.status, 200)
            self.assertTrue(got == body, size)
            with Client(self.server) as c:
                chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 777]), body[i:i + 777]) for i in range(0, size, 777))
                text = b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
                c.send(GET + text + text + GET)
                self.assertEqual([a[2] == b for a, b in zip([c.answer() for _ in range(4)], (made(10), body, body, made(10)))], [True] * 4)

    def test_a_body_is_asked_for_or_refused_before_it_comes(self):
        text = b" HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        with Client(self.server) as c:
            c.send(b"POST /echo" + text)
            self.assertEqual(c.head()[0], 100)
            c.send(b"hello" + GET)
            self.assertEqual(c.answer()[2], b"hello")
            self.assertEqual(c.answer()[0], 200)
            c.send(b"POST /nothing" + text)
            self.assertEqual(c.answer()[0], 404)
            self.assertTrue(c.closed())

    def test_a_request_in_pieces_is_a_request(self):
        text = b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        with Client(self.server) as c:
            c.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(text)):
                c.send(text[i:i + 1])
                if i % 8 == 0:
                    time.sleep(0.001)
            self.assertEqual(c.answer()[2], b"abc")

    def test_large_and_small_answers_keep_their_order(self):
        paths = ["/static/1m.bin", "/", "/large", "/static/12b.txt", "/static/100k.bin", "/medium", "/static/10k.bin", "/json"] * 8
        sizes = {p: len(self.server.get(p)[1]) for p in set(paths)}
        with Client(self.server, receive_buffer=8192) as c:
            c.send(b"".join(b"GET " + p.encode() + b" HTTP/1.1\r\nHost: h\r\n\r\n" for p in paths))
            time.sleep(0.2)
            for p in paths:
                status, _, body = c.answer()
                self.assertEqual((status, len(body)), (200, sizes[p]), p)
                if "/static/" in p:
                    self.assertTrue(body == made(len(body)), p)
            c.send(GET)
            self.assertEqual(c.answer()[2], b"helloworld")

    def test_clients_that_go_away_do_no_harm(self):
        for text in (b"GET /static/10m.bin HTTP/1.1\r\nHost: h\r\n\r\n", b"GET / HT", GET * 3000, b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"):
            for reset in (False, True):
                s = self.server.connect()
                s.sendall(text)
                if reset:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                else:
                    s.recv(1) if text.startswith(GET) else time.sleep(0.01)
                s.close()
        until(lambda: self.server.stats()["connections"]["open"] == 1, "connections are left over")

    def test_a_thousand_idle_connections_stay(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        idle = [self.server.connect() for _ in range(1500)]
        self.assertEqual(self.server.get("/")[0].status, 200)
        for s in idle:
            s.sendall(GET)
        for s in idle:
            self.assertIn(b"helloworld", s.recv(1000))
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


RESET = b"\1\0\0\0\0\0\0\0"


def request(line, body=None, *headers):
    head = b"".join(h + b"\r\n" for h in headers)
    return line + b" HTTP/1.1\r\nHost: h\r\n" + head + (b"" if body is None else b"Content-Length: %d\r\n" % len(body)) + b"\r\n" + (body or b"")


def metrics(server):
    """The figures of /metrics by name, with labels."""
    lines = server.get("/metrics")[1].decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def until(condition, what):
    deadline = time.time() + PATIENCE
    while not condition():
        if time.time() > deadline:
            raise AssertionError(what)
        time.sleep(0.02)


def served(server):
    """A client whose request was answered. The server needs a moment to see that others have gone, and refuses clients until then."""
    served = []

    def ask():
        c = Client(server)
        try:
            c.send(GET)
            if c.answer()[0] == 200:
                served.append(c)
                return True
        except (EOFError, ConnectionError):
            pass
        c.__exit__()
        return False

    until(ask, "all clients are refused")
    return served[0]


class Handlers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PATIENT, "--time-every=1")

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()

    def test_parameters_are_decoded(self):
        for path, want in {"/7": "7", "/a%20b": "a b", "/%22%5c": '"\\', "/:id": ":id", "/%C3%A4": "\u00e4", "/a..b": "a..b", "/" + "x" * 400: "x" * 400}.items():
            r, body = self.server.get("/api/users" + path)
            self.assertEqual((r.status, json.loads(body)["user"], r.getheader("content-type")), (200, want, "application/json"), path)
        self.assertEqual(json.loads(self.server.get("/api/%75sers/7?a=%20b/c?")[1]), {"user": "7", "query": "a=%20b/c?", "instance": 0})
        for path, want in {"/": 404, "": 405, "/7/": 404, "/7/8": 404, "/a%2fb": 400, "/..": 400, "/%": 400, "/%00": 400}.items():
            self.assertEqual(self.server.get("/api/users" + path)[0].status, want, path)

    def test_a_path_has_a_handler_for_each_method(self):
        with Client(self.server) as c:
            for line, body, want, allow in (
                (b"GET /api/users/1", None, 200, None), (b"HEAD /api/users/1", None, 200, None), (b"DELETE /api/users/1", None, 204, None),
                (b"PUT /api/users/1", b"x", 405, "GET, HEAD, DELETE"), (b"GET /api/users", None, 405, "POST"), (b"POST /api/users", b"x", 201, None),
                (b"POST /api/users", None, 422, None), (b"PATCH /api", b"x", 405, "GET, HEAD"), (b"GET /api", None, 200, None),
            ):
                c.send(request(line, body))
                if line.startswith(b"HEAD"):
                    status, headers = c.head()
                    self.assertGreater(int(headers["content-length"]), 0)
                else:
                    status, headers, _ = c.answer()
                self.assertEqual((status, headers.get("allow")), (want, allow), line)
                if want == 201:
                    self.assertEqual(headers["location"], "/api/users/1")
                self.assertEqual("content-length" in headers, want != 204)

    def test_answers_that_come_later_keep_their_order(self):
        with Client(self.server) as c:
            c.send(GET + request(b"GET /api/later/200") + GET + request(b"GET /api/later/0") * 3 + request(b"POST /echo", b"hello") + request(b"HEAD /api/later/1") + GET)
            want = [b"helloworld", b'{"later":true}\n', b"helloworld"] + [b'{"later":true}\n'] * 3 + [b"hello"]
            self.assertEqual([c.answer()[2] for _ in want], want)
            self.assertEqual(c.head()[0], 200)
            self.assertEqual(c.answer()[2], b"helloworld")

    def test_many_wait_at_once(self):
        clients = [Client(self.server) for _ in range(200)]
        for i, c in enumerate(clients):
            c.send(request(b"GET /api/later/%d" % (i % 50)) + GET)
        for c in clients:
            self.assertEqual((c.answer()[0], c.answer()[2]), (200, b"helloworld"))
            c.__exit__()

    def waiting(self, text, milliseconds):
        """Clients of which one waits for its answer at least: on a slow machine they are given more than the milliseconds."""
        while True:
            clients = [self.server.connect() for _ in range(20)]
            for s in clients:
                s.sendall(request(b"GET /api/later/%d" % milliseconds) + text)
            if self.server.stats()["waiting"] >= 1:
                return clients
            for s in clients:
                s.close()
            milliseconds = min(2 * milliseconds, 10000)

    def test_a_connection_may_die_before_its_answer(self):
        for reset in (False, True):
            for text in (b"", GET, b"GET / HT"):
                clients = self.waiting(text, 10000 if reset else 500)  # nothing tells the server of who has only closed before it answers
                for s in clients:
                    if reset:
                        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                    s.close()
                until(lambda: self.server.stats()["waiting"] == 0, "requests are left over")
                until(lambda: self.server.stats()["connections"]["open"] == 1, "connections are left over")
        self.assertEqual(self.server.stats()["held"]["bytes"], 0)

    def test_who_sends_no_more_gets_its_answer(self):
        with Client(self.server) as c:
            c.send(request(b"GET /api/later/200"))
            c.socket.shutdown(socket.SHUT_WR)
            self.assertEqual(c.answer()[2], b'{"later":true}\n')
            self.assertTrue(c.closed())

    def test_a_large_answer_of_a_handler_comes_whole(self):
        body = random.Random(7).randbytes(65536)
        with Client(self.server, receive_buffer=4096) as c:
            c.send(request(b"POST /api/users", body) + request(b"POST /echo", body[:5000]) + GET)
            self.assertEqual([c.answer()[2] == b for b in (body, body[:5000], made(10))], [True] * 3)

    def test_metrics_are_told(self):
        before = metrics(self.server)
        for _ in range(10):
            self.server.get("/")
        self.server.get("/api/later/50")
        self.server.get("/nothing")
        after = metrics(self.server)
        # That of "before" was timed once it had been told.
        for name, more in {'uvhttp_requests_total{instance="0"}': 13, "uvhttp_latency_seconds_count": 13, 'uvhttp_answers_total{status="2xx"}': 12,
                           'uvhttp_answers_total{status="4xx"}': 1, 'uvhttp_latency_seconds_bucket{le="+Inf"}': 13}.items():
            self.assertEqual(after[name] - before[name], more, name)
        self.assertGreaterEqual(after["uvhttp_latency_seconds_sum"] - before["uvhttp_latency_seconds_sum"], 0.049)
        name = "uvhttp_latency_seconds_bucket{le=\"0.032768\"}"
        self.assertLessEqual(after[name] - before[name], 12, "the answer that came after 50 ms")
        until(lambda: metrics(self.server)["uvhttp_loop_delay_seconds_count"] > before["uvhttp_loop_delay_seconds_count"], "no delay is told")


class Instances(unittest.TestCase):
    FLAGS = ("--instances=2", "--time-every=1")

    def both(self, server):
        """Waits until both instances listen."""
        seen = set()
        until(lambda: seen.add(json.loads(server.get("/api/users/1")[1])["instance"]) or len(seen) == 2, "one instance answers alone")
        until(lambda: server.stats()["connections"]["open"] == 1, "connections are left over")

    def test_two_instances_share_a_port(self):
        for program in (PATIENT, TSAN, RELEASE):
            with Server(program, *self.FLAGS) as server:
                self.both(server)
                clients = [Client(server) for _ in range(100)]
                seen = set()
                for i, c in enumerate(clients):
                    c.send(request(b"GET /api/users/%d" % i) + request(b"GET /static/10k.bin") + request(b"GET /api/later/1"))
                for i, c in enumerate(clients):
                    user = json.loads(c.answer()[2])
                    self.assertEqual(user["user"], str(i))
                    seen.add(user["instance"])
                    self.assertTrue(c.answer()[2] == made(10 << 10))
                    self.assertEqual(c.answer()[0], 200)
                self.assertEqual(seen, {0, 1})
                until(lambda: server.stats()["connections"]["open"] == 101, "the instances do not tell of all connections")
                told = metrics(server)
                self.assertTrue(all(told['uvhttp_connections{instance="%d"}' % i] > 0 for i in range(2)))
                for c in clients:
                    c.__exit__()

    def test_another_server_does_not_get_a_part_of_the_port(self):
        with Server(PATIENT, *self.FLAGS) as server:
            for flags in (self.FLAGS, ()):
                p = subprocess.run([PATIENT, f"--port={server.port}", *flags], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=PATIENCE)
                self.assertEqual(p.returncode, 1)
                self.assertIn(b"in use", p.stderr)

    def test_all_instances_end_at_sigterm_and_answer_before(self):
        for program in (UNHURRIED, TSAN):
            server = Server(program, *self.FLAGS)
            clients = [Client(server) for _ in range(20)]
            for c in clients:
                c.send(request(b"GET /api/later/500"))
            until(lambda: server.stats()["waiting"] > 0 or select.select([c.socket for c in clients], [], [], 0)[0], "nobody waits")
            server.process.send_signal(signal.SIGTERM)
            for c in clients:
                self.assertEqual(c.answer()[2], b'{"later":true}\n')
                self.assertTrue(c.closed())
                c.__exit__()
            self.assertEqual(server.stop(), 0, server.errors())

    def test_sigterm_may_come_at_any_time(self):
        for i in range(20):
            server = Server(RELEASE, *self.FLAGS)
            if i % 2 == 0:
                server.get("/")
            while server.process.poll() is None:
                server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.returncode, 0, server.errors())
            server.stop()

    def test_the_limit_of_connections_is_that_of_all(self):
        with Server(PATIENT, "--max-connections=10", *self.FLAGS) as server:
            self.both(server)
            clients = [Client(server) for _ in range(100)]
            statuses = []
            for c in clients:
                c.send(GET)
                statuses.append(c.answer()[0])
            self.assertIn(statuses.count(200), range(1, 11))  # one of them may still hold a connection that is over
            self.assertEqual(statuses.count(200) + statuses.count(503), 100)
            for c in clients:
                c.__exit__()


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="uvhttp-")
        self.content = {}
        for i, size in enumerate([0, 1, 4096, 4097, 16383, 16384, 16385, 20000, 100000, 3000000] + [9000] * 20):
            name = f"f{i}.bin"
            self.content[name] = random.Random(i).randbytes(size)
            self.write(name)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, name):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(self.content[name])

    def test_files_are_served_byte_for_byte_while_the_cache_drops_them(self):
        with Server(SHORT, "--root", self.folder) as server:
            choice = random.Random(1)
            for _ in range(300):
                name = choice.choice(list(self.content))
                r, body = server.get("/static/" + name)
                self.assertEqual(r.status, 200)
                self.assertTrue(body == self.content[name], name)
            cache = server.stats()["cache"]
            self.assertGreater(cache["evictions"], 10)
            self.assertGreater(cache["hits"], 10)
            self.assertLessEqual(cache["bytes"], 100000)
            self.assertLessEqual(cache["files"], 8)

    def test_a_warm_cache_has_the_files_before_anybody_asks(self):
        with Server(PATIENT, "--warm", f"--root={self.folder}") as server:
            cache = server.stats()["cache"]
            self.assertEqual(cache["files"], len(self.content))
            for name, content in self.content.items():
                self.assertTrue(server.get("/static/" + name)[1] == content, name)
            self.assertEqual(server.stats()["cache"]["misses"], cache["misses"])

    def test_a_file_that_changes_is_served_anew(self):
        with Server(PATIENT, f"--root={self.folder}") as server:
            for name in ("f1.bin", "f8.bin"):
                before, _ = server.get("/static/" + name)
                self.content[name] = self.content[name] + b"more"
                self.write(name)
                until(lambda: server.get("/static/" + name, If_None_Match=before.getheader("etag"))[0].status == 200, "it is served as it was")
                self.assertTrue(server.get("/static/" + name)[1] == self.content[name])

    def test_a_file_that_shrinks_under_way_ends_the_connection(self):
        path, size = os.path.join(self.folder, "f9.bin"), 64 << 20  # more than both sockets hold
        os.truncate(path, size)
        with Server(PATIENT, "--root", self.folder) as server, Client(server, receive_buffer=8192) as c:
            c.send(b"GET /static/f9.bin HTTP/1.1\r\nHost: h\r\n\r\n")
            self.assertEqual(c.head()[0], 200)
            os.truncate(path, 10)
            self.assertLess(len(c.input.read(size)), size)

    def test_a_folder_that_is_not_there_is_refused(self):
        p = subprocess.run([PATIENT, "--root", self.folder + "/no"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"/no", p.stderr)


class Limits(unittest.TestCase):
    def test_bad_flags_are_refused_with_a_sentence(self):
        for flags in (["--port"], ["--port=0"], ["--port", "65536"], ["--port=80x"], ["--por=80"], ["--max-connections=0"], ["--root="], ["x"], ["--portable=1"], ["--instances=0"], ["--instances=65"], ["--time-every=0"], ["--warm=1"]):
            p = subprocess.run([PATIENT, *flags], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual((p.returncode, p.stderr[:5]), (2, b"usage"), flags)

    def test_a_port_in_use_is_refused(self):
        with Server(PATIENT) as server:
            p = subprocess.run([PATIENT, f"--port={server.port}"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, timeout=PATIENCE)
            self.assertEqual(p.returncode, 1)
            self.assertIn(b"in use", p.stderr)

    def test_connections_above_the_limit_are_told_so(self):
        with Server(PATIENT, "--max-connections", "5") as server:
            inside = [served(server) for _ in range(5)]
            outside = [Client(server) for _ in range(200)]
            for c in outside:
                status, headers, _ = c.answer()
                self.assertEqual((status, headers["connection"]), (503, "close"))
            for c in outside + inside[:1]:
                c.__exit__()
            inside[0] = served(server)
            for c in inside:
                c.send(GET)
                self.assertEqual(c.answer()[0], 200)
                c.__exit__()

    def test_who_has_asked_before_being_refused_is_told_without_a_reset(self):
        for flags, files in ((["--max-connections=5"], None), ([], 64)):
            with Server(RELEASE, *flags, files=files) as server:
                server.process.send_signal(signal.SIGSTOP)
                clients = [Client(server) for _ in range(300)]
                for c in clients:
                    c.send(GET)
                server.process.send_signal(signal.SIGCONT)
                refused = 0
                for c in clients:
                    status = c.answer()[0]
                    if status == 503:
                        refused += 1
                        self.assertEqual(c.input.read(1), b"")
                    else:
                        self.assertEqual(status, 200)
                self.assertGreater(refused, 200)
                for c in clients:
                    c.__exit__()

    def test_out_of_descriptors_a_connection_is_refused_and_the_server_lives(self):
        with Server(RELEASE, files=64) as server:
            clients = [Client(server) for _ in range(300)]
            statuses = []
            for c in clients:
                try:
                    c.send(GET)
                    statuses.append(c.answer()[0])
                except (EOFError, ConnectionError):
                    statuses.append(None)
            self.assertGreaterEqual(statuses.count(200), 20)
            self.assertGreaterEqual(statuses.count(503), 50)
            for c in clients:
                c.__exit__()
            served(server).__exit__()
            self.assertEqual(server.get("/static/12b.txt")[0].status, 200)

    def test_slow_clients_are_given_up(self):
        with Server(SHORT) as server:
            server.process.send_signal(signal.SIGSTOP)  # until all have sent what they send, however long that takes
            head, body, idle, fresh, trickle, stalled = (Client(server, receive_buffer=4096) for _ in range(6))
            head.send(b"GET / HTTP/1.1\r\nHo")
            body.send(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
            idle.send(GET)
            trickle.send(b"X")
            stalled.send(b"GET /static/10m.bin HTTP/1.1\r\nHost: h\r\n\r\n")
            server.process.send_signal(signal.SIGCONT)
            self.assertEqual(idle.answer()[0], 200)
            deadline = time.time() + PATIENCE
            while not select.select([trickle.socket], [], [], 0.1)[0]:
                self.assertLess(time.time(), deadline, "a client may send its head for ever")
                trickle.send(b"X")
            for c in (head, body, trickle):
                self.assertEqual(c.answer()[0], 408)
                self.assertTrue(c.closed())
            self.assertTrue(idle.closed() and fresh.closed())
            until(lambda: server.stats()["connections"]["open"] == 1, "a client that does not read is not given up")
            try:
                got = len(stalled.input.read(20 << 20))
            except ConnectionResetError:
                got = 0
            self.assertLess(got, 10 << 20)
            for c in (head, body, idle, fresh, trickle, stalled):
                c.__exit__()

    def test_clients_that_do_not_read_take_no_more_than_the_server_has_for_them(self):
        with Server(TIGHT) as server:
            clients, most = [], server.stats()["held"]["most"]
            for _ in range(most // 65536 + 20):
                c = Client(server, receive_buffer=4096)
                c.socket.settimeout(0)
                try:
                    for _ in range(200):
                        c.socket.send(b"GET /small HTTP/1.1\r\nHost: h\r\n\r\n" * 100)
                except OSError:  # the server reads no more of it, or has cut it off
                    pass
                clients.append(c)
            held = server.stats()["held"]
            self.assertLessEqual(held["bytes"], most)
            self.assertEqual(server.get("/json")[0].status, 200)
            for c in clients:
                c.__exit__()
            until(lambda: server.stats()["held"]["bytes"] == 0, "memory is held for clients that have gone")
            self.assertLessEqual(server.stats()["held"]["unused"], 2 << 20)

    def deaf(self, server, count):
        """Clients that ask for more than any socket holds, and read nothing."""
        clients = [Client(server, receive_buffer=4096) for _ in range(count)]
        for _ in range(3):
            for c in clients:
                c.socket.settimeout(0)
                try:
                    while True:
                        c.socket.send(b"GET /small HTTP/1.1\r\nHost: h\r\n\r\n" * 1000)
                except OSError:  # the server reads no more of it, or has cut it off
                    pass
            server.get("/")  # it has turned to them meanwhile
        return clients

    def test_the_released_server_gives_back_what_clients_that_do_not_read_have_cost(self):
        """As the kernel counts its memory."""
        if not os.path.getsize(MIMALLOC):
            return  # glibc's allocator gives back what lies on top alone
        with Server(RELEASE) as server:
            server.get("/small")
            before, kept = server.memory(), 12 << 20  # what it and its allocator may keep for later
            for _ in range(2):
                clients = self.deaf(server, 500)
                held = server.stats()["held"]["bytes"]
                self.assertGreater(held, 500 * 49152)
                self.assertLess(server.memory() - before, held + kept)
                for c in clients:
                    c.__exit__()
                until(lambda: server.stats()["held"]["bytes"] == 0, "memory is held for clients that have gone")
                until(lambda: server.memory() < before + kept, "memory of clients that have gone is not given back")

    def test_the_released_server_outlives_clients_that_use_up_its_memory(self):
        with Server(RELEASE) as server:
            server.get("/")
            with open(f"/proc/{server.process.pid}/statm") as f:
                mapped = int(f.read().split()[0]) * resource.getpagesize()
            resource.prlimit(server.process.pid, resource.RLIMIT_AS, (mapped + (2 << 20),) * 2)
            clients = self.deaf(server, 200)
            for c in clients:
                c.__exit__()
            until(lambda: server.stats()["held"]["bytes"] == 0, "memory is held for clients that have gone")
            self.assertEqual(server.get("/echo", "POST", b"hello")[1], b"hello")

    def test_without_room_for_a_request_it_is_refused(self):
        body = b"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        with Server(TIGHT) as server:
            clients = [Client(server) for _ in range(server.stats()["held"]["most"] // 65536 + 1)]
            for c in clients:
                c.send(body)
            statuses = [c.head()[0] for c in clients]
            self.assertEqual(statuses, [100] * (len(clients) - 1) + [503])
            self.assertEqual(server.get("/echo", "POST", b"hello")[0].status, 503)
            self.assertEqual(server.get("/")[0].status, 200)
            for c in clients[:-1]:
                c.send(b"hello")
                self.assertEqual(c.answer()[2], b"hello")
            self.assertEqual(server.get("/echo", "POST", b"hello")[0].status, 200)
            for c in clients:
                c.__exit__()

    def test_a_reader_that_is_slow_but_alive_gets_all(self):
        with Server(SHORT) as server:
            until(lambda: self.read_slowly(server), "it is cut off however alive it is")

    def read_slowly(self, server):
        """Tells whether a reader gets all that takes longer than the server waits for one that stalls. The machine may keep it from reading
        for so long: then it tries again."""
        with Client(server, receive_buffer=65536) as c:
            c.send(b"GET /static/10m.bin HTTP/1.1\r\nHost: h\r\n\r\n")
            begin, size, got = time.time(), int(c.head()[1]["content-length"]), b""
            read, longest = begin, 0
            while len(got) < size:
                try:
                    piece = c.input.read(min(1 << 18, size - len(got)))
                except ConnectionResetError:
                    piece = b""
                longest, read = max(longest, time.time() - read), time.time()
                if not piece:
                    self.assertGreater(longest, STALL_SECONDS / 2, "a reader that was alive was cut off")
                    return False
                got += piece
                time.sleep(0.05)
            self.assertGreater(time.time() - begin, STALL_SECONDS)
            self.assertTrue(got == made(size))
            return True


class Ends(unittest.TestCase):
    def test_an_answer_under_way_is_completed_after_sigterm(self):
        server = Server(UNHURRIED)
        with Client(server, receive_buffer=65536) as busy, Client(server) as idle, Client(server) as late:
            busy.send(b"GET /static/10m.bin HTTP/1.1\r\nHost: h\r\n\r\n")
            late.send(b"GET / HTTP/1.1\r\nHo")
            self.assertEqual(busy.head()[0], 200)
            server.process.send_signal(signal.SIGTERM)
            self.assertTrue(idle.closed())
            late.send(b"st: h\r\n\r\n")
            self.assertEqual(late.answer()[1].get("connection"), "close")
            self.assertTrue(busy.input.read(10 << 20) == made(10 << 20))
            self.assertTrue(busy.closed() and late.closed())
        self.assertEqual(server.stop(), 0, server.errors())

    def test_a_client_that_does_not_read_is_cut_off_after_sigterm(self):
        for program in (PATIENT, RELEASE):
            server = Server(program)
            with Client(server, receive_buffer=4096) as stalled:
                stalled.send(b"GET /static/10m.bin HTTP/1.1\r\nHost: h\r\n\r\n" * 3)
                self.assertEqual(stalled.head()[0], 200)
                self.assertEqual(server.stop(), 0, server.errors())
                with self.assertRaises((EOFError, ConnectionResetError)):
                    stalled.input.read(1 << 20)
                    if len(stalled.input.read(30 << 20)) < 20 << 20:
                        raise EOFError

    def test_a_handler_that_has_its_client_wait_does_not_keep_the_server(self):
        for flags in ((), ("--instances=2",)):
            server = Server(PATIENT, *flags)
            clients = [Client(server) for _ in range(20)]
            for c in clients:
                c.send(request(b"GET /api/later/10000"))
            until(lambda: server.stats()["waiting"] > 0, "nobody waits")
            self.assertEqual(server.stop(), 0, server.errors())
            self.assertTrue(any([c.closed() for c in clients]), "all were answered")
            for c in clients:
                c.__exit__()

    def test_a_request_that_waits_is_answered_after_sigterm(self):
        server = Server(UNHURRIED)
        with Client(server) as c:
            c.send(GET)
            c.answer()
            server.process.send_signal(signal.SIGSTOP)
            c.send(GET)
            waiting = Client(server)
            waiting.send(GET)
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGCONT)
            for client in (c, waiting):
                self.assertEqual(client.answer()[0], 200)
                self.assertTrue(client.closed())
            waiting.__exit__()
        self.assertEqual(server.stop(), 0)

    def test_sigterm_may_come_as_soon_as_a_client_can_connect(self):
        for _ in range(40):
            server = Server(RELEASE)
            self.assertEqual(server.stop(), 0, server.errors())

    def test_another_sigterm_never_ends_by_the_signal_what_the_first_ends_well(self):
        for _ in range(40):
            server = Server(RELEASE)
            server.get("/")
            while server.process.poll() is None:
                server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.returncode, 0, server.errors())


class Accounts(unittest.TestCase):
    def pipeline(self, server, text, answers, rounds):
        with Client(server) as c:
            for _ in range(rounds):
                c.send(text)
                for _ in range(answers):
                    self.assertEqual(c.answer()[0] // 100, 2)

    def warm(self, server):
        """Lets the server hold at one time more of everything that it pools than one client after the other makes it hold."""
        clients = [Client(server) for _ in range(4)]
        for c in clients:
            c.send(GET + GET[:9])
            self.assertEqual(c.answer()[0], 200)
        for c in clients:
            c.send(GET[9:] + b"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
            self.assertEqual((c.answer()[0], c.head()[0]), (200, 100))
        for c in clients:
            c.send(b"hello")
            self.assertEqual(c.answer()[2], b"hello")
            c.__exit__()

    def test_requests_take_no_memory_once_the_server_is_warm(self):
        text = b"".join(b"GET " + p + b" HTTP/1.1\r\nHost: h\r\n\r\n" for p in (b"/", b"/json", b"/static/12b.txt", b"/static/10k.bin", b"/static/100k.bin", b"/large"))
        text += request(b"POST /echo", b"hello") + request(b"GET /api/users/7")
        for program in (PATIENT, RELEASE):
            with Server(program) as server:
                self.pipeline(server, text, 8, 20)
                self.warm(server)
                before = server.stats()
                self.pipeline(server, text, 8, 400)
                for _ in range(100):
                    self.assertEqual(server.get("/")[0].status, 200)
                after = server.stats()
                self.assertEqual(after["allocator"]["allocations"], before["allocator"]["allocations"])
                self.assertEqual(after["requests"] - before["requests"], 400 * 8 + 101)
                self.assertEqual(after["answers"]["2xx"] - before["answers"]["2xx"], 400 * 8 + 101)

    def test_memory_is_the_same_after_many_requests(self):
        with Server(RELEASE) as server, Client(server) as c:
            c.send(GET)
            size = len(c.input.read1(4096))
            for round in range(300):
                c.send(GET * 1000)
                self.assertEqual(c.input.read(size * 1000).count(b"helloworld"), 1000)
                if round == 20:
                    before = server.memory()
            self.assertLessEqual(server.memory() - before, 16384)

    def test_the_server_says_what_it_is(self):
        with Server(PATIENT) as server:
            stats = server.stats()
            self.assertIn("address-sanitizer", stats["flags"])
            compiler = subprocess.run([*COMPILER.split(), "--version"], stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(stats["compiler"].split()[0], "clang" if b"clang" in compiler else "gcc")
        with Server(RELEASE, "--max-connections=77") as server:
            stats = server.stats()
            for flag in ("optimised", "NDEBUG", "fortify-2", "stack-protector-strong", "pie"):
                self.assertIn(flag, stats["flags"])
            self.assertEqual(stats["limits"]["connections"], 77)
            self.assertEqual(stats["allocator"]["name"], "mimalloc" if os.path.getsize(MIMALLOC) else "glibc malloc")


def main():
    stream = io.StringIO()
    begin = time.time()
    bad = 0
    for case in (Answers, Handlers, Instances, Folder, Limits, Ends, Accounts):
        result = unittest.TextTestRunner(stream=stream).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        bad += len(result.failures) + len(result.errors)
        for _, text in result.failures + result.errors:
            print(text)
    tests = sum(len(unittest.defaultTestLoader.getTestCaseNames(c)) for c in (Answers, Handlers, Instances, Folder, Limits, Ends, Accounts))
    print(f"integration: {tests} tests, {bad} failed, {time.time() - begin:.0f} s")
    return bad > 0


sys.exit(main())
