# Calls a function with a parallel loop from Python. The book shows the lines below.
import array, ompvm

dot = ompvm.open("kernel.bc")["dot"]
x, y = array.array("d", [1, 2, 3]), array.array("d", [4, 5, 6])
print(dot(3, x, y))
