"""Calls of every kind from Python. Arguments: the bitcode of tests/capi/guest.c."""

import array
import ctypes
import sys
import threading
import unittest

import ompvm

GUEST = sys.argv.pop()

try:
    import numpy
except ImportError:
    numpy = None


def start(**options):
    functions = {
        "host_add": ("int (int, int)", lambda a, b: a + b),
        "host_weight": ("double (const double *, long)", weight),
    }
    return ompvm.Module(GUEST, cached=False).start(functions=functions, threads=2, thread_limit=5, **options)


def weight(values, count):
    return sum((ctypes.c_double * count).from_address(values))


class Calls(unittest.TestCase):
    tier = "interp"

    def setUp(self):
        self.process = start(tier=self.tier)

    def test_scalars(self):
        narrow = self.process.function("narrow", "signed char (signed char, unsigned short, bool)")
        self.assertEqual(narrow(-128, 0, True), 127)
        self.assertEqual(narrow(0, 0x80, False), -128)
        with self.assertRaisesRegex(ValueError, "-129 does not fit a signed integer of 8 bits"):
            narrow(-129, 0, True)
        with self.assertRaisesRegex(ValueError, "-1 does not fit an unsigned integer of 16 bits"):
            narrow(0, -1, True)
        with self.assertRaisesRegex(TypeError, "takes 3 arguments, and got 1"):
            narrow(1)
        with self.assertRaises(TypeError):
            narrow("a", 0, True)
        mixed = self.process.function("mixed", "float (float, double, int, const char *, float)")
        self.assertEqual(mixed(0.5, 2, -3, b"A", 0.25), 64.75)
        self.assertEqual(self.process["many"](1, 1, 1, 1, 1, 1, -1, 0.5), 18)
        self.assertIsNone(self.process["nothing"]())
        self.assertEqual(self.process["team"](64), 5)
        self.assertEqual(narrow.name, "narrow")
        self.assertEqual(self.process["narrow"].signature, "i8(i8, i16, i1)")

    def test_arrays_in_place(self):
        values = array.array("f", [1, 2, 3])
        self.process["negate"](3, values)
        self.assertEqual(list(values), [-1, -2, -3])
        self.process.function("negate", "void (long, float *)")(2, memoryview(values)[1:])
        self.assertEqual(list(values), [-1, 2, 3])
        dot = self.process.function("dot", "double (long, const double *, const double *)")
        a, b = array.array("d", range(100)), array.array("d", [1] * 100)
        self.assertEqual(dot(100, a, b), 2 * 4950)
        address = a.buffer_info()[0]
        self.assertEqual(dot(100, address, b), 2 * 4950)
        scale = ctypes.c_double.from_address(self.process.variable("scale"))
        scale.value = 1
        self.assertEqual(dot(100, a, memoryview(b).toreadonly()), 4950)
        self.assertIsNone(self.process.variable("missing"))

    def test_wrong_arrays(self):
        dot = self.process.function("dot", "double (long, const double *, const double *)")
        doubles = array.array("d", [1, 2])
        with self.assertRaisesRegex(TypeError, "floating-point numbers of 8 bytes is needed, not of "
                                               "floating-point numbers of 4"):
            dot(2, doubles, array.array("f", [1, 2]))
        with self.assertRaisesRegex(TypeError, "an address or None"):
            dot(2, doubles, "text")
        with self.assertRaises(BufferError):
            self.process["negate"](1, memoryview(array.array("f", [1])).toreadonly())
        with self.assertRaises(BufferError):
            dot(1, memoryview(doubles)[::-1], doubles)

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_numpy(self):
        values = numpy.arange(1000, dtype=numpy.float32)
        self.process["negate"](len(values), values)
        self.assertTrue((values == -numpy.arange(1000)).all())
        x = numpy.random.default_rng(1).random(1000)
        y = numpy.asfortranarray(numpy.ones((10, 100)))
        dot = self.process.function("dot", "double (long, const double *, const double *)")
        self.assertAlmostEqual(dot(1000, x, y), 2 * x.sum())
        with self.assertRaises(ValueError):
            dot(500, x[::2], y)
        self.assertEqual(self.process["many"](*[numpy.int64(1)] * 7, numpy.float64(0.5)), 32)

    def test_callbacks(self):
        self.assertEqual(self.process["through"](2), 42)
        self.assertEqual(self.process["weigh"](5), 10.0)

        def fail(a, b):
            raise KeyError(a)

        functions = {"host_add": ("int (int, int)", fail),
                     "host_weight": ("double (double *, long)", lambda p, n: "text")}
        process = ompvm.Module(GUEST, cached=False).start(functions=functions, tier=self.tier)
        for _ in range(2):
            with self.assertRaisesRegex(KeyError, "7"):
                process["through"](7)
        with self.assertRaises(TypeError):
            process["weigh"](1)
        process["nothing"]()

    def test_faults(self):
        for _ in range(3):
            with self.assertRaises(ompvm.Trap) as caught:
                self.process["fault"](8)
            trap = caught.exception
            self.assertEqual((trap.kind, trap.signal, trap.address), ("bad address", 11, 8))
            self.assertEqual(trap.function, "fault")
            self.assertIn("guest.c:", trap.place)
            with self.assertRaisesRegex(ompvm.Error, "status 7"):
                self.process["leave"](7)

    def test_limits(self):
        go = array.array("q", [1])
        cancel = ompvm.Cancel()
        for options, kind in [({"time_limit": 0.05}, "out of time"), ({"cancel": cancel}, "cancelled")]:
            process = start(tier=self.tier, **options)
            threading.Timer(0.2, cancel.cancel).start()
            with self.assertRaises(ompvm.Trap) as caught:
                process["spin"](go)
            self.assertEqual(caught.exception.kind, kind)
            process["nothing"]()
        self.assertIsNone(self.process.fuel)
        self.assertIsNone(self.process.memory_used)
        limited = start(tier="interp", fuel=100_000, memory_limit=1 << 20)
        self.assertEqual(limited.memory_used, 0)
        for fuel in [100_000, 1_000]:
            limited.fuel = fuel
            with self.assertRaises(ompvm.Trap) as caught:
                limited["spin"](go)
            self.assertEqual(caught.exception.kind, "out of fuel")
            # Each thread of the region may have given a share back.
            self.assertLess(limited.fuel, 50_000)
        with self.assertRaisesRegex(ompvm.Error, "without fuel"):
            self.process.fuel = 5
        for wrong in [-1, float("nan")]:
            with self.assertRaisesRegex(ValueError, "seconds"):
                start(time_limit=wrong)

    def test_errors(self):
        with self.assertRaisesRegex(ompvm.Error, "no function `missing`"):
            self.process["missing"]
        with self.assertRaisesRegex(ompvm.Error, "is i32"):
            self.process.function("through", "int (long)")
        with self.assertRaisesRegex(ompvm.Error, "/missing.bc"):
            ompvm.open("/missing.bc")
        with self.assertRaisesRegex(ompvm.Error, "host_add"):
            ompvm.Module(GUEST).start()
        with self.assertRaisesRegex(ValueError, "fast"):
            start(tier="fast")
        with self.assertRaisesRegex(ompvm.Error, "bytes"):
            ompvm.Module.from_bytes(b"BC")

    def test_contained_reading(self):
        functions = {"host_add": ("int (int, int)", max), "host_weight": ("double (const double *, long)", weight)}
        with open(GUEST, "rb") as file:
            data = file.read()
        for module in (
            ompvm.Module(GUEST, cached=False, contained=True),
            ompvm.Module.from_bytes(data, cached=False, contained=True),
        ):
            process = module.start(functions=functions)
            self.assertEqual(process["many"](1, 1, 1, 1, 1, 1, -1, 0.5), 18)
        for damaged in data[: len(data) // 2], b"BC\xc0\xde" * 99:
            with self.assertRaisesRegex(ompvm.Error, "strange"):
                ompvm.Module.from_bytes(damaged, "strange", cached=False, contained=True)

    def test_sources(self):
        text = """
        double total(long n, const double *x) {
          double sum = 0;
          #pragma omp parallel for reduction(+ : sum)
          for (long i = 0; i < n; i++) sum += x[i] * D;
          return sum;
        }"""
        process = ompvm.compile(text, flags=["-DD=2"], tier=self.tier)
        self.assertEqual(process["total"](3, array.array("d", [1, 2, 3])), 12)
        with self.assertRaisesRegex(ompvm.Error, "source:5:54: error: .*'D'"):
            ompvm.compile(text)
        with self.assertRaisesRegex(ValueError, "pascal"):
            ompvm.compile(text, "pascal")

    def test_sessions(self):
        calls = []
        functions = {"host_note": ("int (int)", lambda n: calls.append(n) or n + 1)}
        with ompvm.Session(tier=self.tier, flags=["-DD=2"], functions=functions) as session:
            self.assertEqual(session.completeness("int n = 3;"), "complete")
            self.assertEqual(session.completeness("#pragma omp parallel"), "unfinished")
            self.assertEqual(session.completeness("int f(void) {"), "open")
            done = session.run("int host_note(int); double sum = 0; int n = 1000;")
            self.assertEqual((done.value, done.warnings, done.exit), (None, "", None))
            session.run("#pragma omp parallel for reduction(+ : sum)\nfor (int i = 0; i < n; i++) sum += i * D;")
            self.assertEqual(session.run("sum / n").value, "999.0")
            self.assertEqual(session.run("host_note(7)").value, "8")
            self.assertEqual(calls, [7])
            with self.assertRaisesRegex(ompvm.Error, "'missing'"):
                session.run("missing")
            with self.assertRaises(ompvm.Trap) as caught:
                session.run("*(volatile int *)8 = 1;")
            self.assertEqual(caught.exception.kind, "bad address")
            self.assertIsNone(caught.exception.region)
            with self.assertRaises(ompvm.Trap) as caught:
                session.run("int f(void) { return *(volatile int *)8; }\n#pragma omp parallel\nf();")
            self.assertRegex(caught.exception.region, "^parallel region at .*cell-[0-9]+:2 in ")
            self.assertEqual(session.run("n").value, "1000")
            self.assertEqual(session.run("#include <stdlib.h>\nexit(3);").exit, 3)
        with self.assertRaisesRegex(ompvm.Error, "closed"):
            session.run("n")
        with self.assertRaisesRegex(ValueError, "fast"):
            ompvm.Session(tier="fast")

    def test_session_callbacks_raise(self):
        def refuse(n):
            raise KeyError(n)

        session = ompvm.Session(functions={"refuse": ("int (int)", refuse)})
        with self.assertRaises(KeyError):
            session.run("int refuse(int); refuse(4)")
        with self.assertRaisesRegex(ompvm.Error, "a cell runs"):
            other = []
            session = ompvm.Session(
                functions={"again": ("int (int)", lambda n: session.run("1") and n)}
            )
            session.run("int again(int); again(4)")

    def test_threads(self):
        narrow = self.process.function("narrow")
        wrong = []

        def work():
            for i in range(300):
                if narrow(i % 100, 0, True) != i % 100 - 1:
                    wrong.append(i)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_main(self):
        with start(tier=self.tier, args=["guest", "last"], reports=True) as process:
            function = process["nothing"]
            self.assertEqual(process.run_main(), 2)
            function()
            with self.assertRaisesRegex(ompvm.Error, "main has been called before"):
                process.run_main()
            counts = process.statistics()
            if self.tier == "interp":
                self.assertTrue(any(row["function"] == "main" for row in counts["rows"]))
        with self.assertRaisesRegex(ompvm.Error, "closed"):
            process["nothing"]


class CompiledCalls(Calls):
    tier = "opt"


if __name__ == "__main__":
    unittest.main()
