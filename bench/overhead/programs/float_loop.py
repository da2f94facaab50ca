"""Pure floating-point arithmetic: a Mandelbrot set and a bouncing orbit."""
import sys


def mandelbrot(size, depth):
    inside = 0
    for row in range(size):
        ci = 2.0 * row / size - 1.0
        for column in range(size):
            cr = 3.0 * column / size - 2.0
            zr = zi = 0.0
            for _ in range(depth):
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                if zr * zr + zi * zi > 4.0:
                    break
            else:
                inside += 1
    return inside


def orbit(steps):
    x, y, vx, vy = 1.0, 0.0, 0.0, 0.9
    for _ in range(steps):
        r2 = x * x + y * y
        pull = 0.001 / (r2 * r2 ** 0.5)
        vx -= x * pull
        vy -= y * pull
        x += vx * 0.001
        y += vy * 0.001
    return x, y


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(mandelbrot(int(500 * scale ** 0.5), 100))
    print("%.9f %.9f" % orbit(int(6_000_000 * scale)))
