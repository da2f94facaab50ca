"""A pool of processes by the start method that the argument names."""

import concurrent.futures
import multiprocessing
import os
import sys
import warnings

from burn import burn

warnings.simplefilter("ignore")


def square(number):
    burn(0.02)
    if number == 13:
        raise ValueError("thirteen")
    return number * number


def shared(counter, queue):
    burn(0.02)
    with counter.get_lock():
        counter.value += 1
    queue.put(multiprocessing.current_process().name.split("-")[0])
    sys.exit(3)


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    print("method", multiprocessing.get_start_method(allow_none=True))
    with context.Pool(2) as pool:
        print(pool.map(square, range(10)))
        try:
            pool.map(square, range(12, 15))
        except ValueError as error:
            print("raised", error)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        print(list(executor.map(square, range(5))))
    counter, queue = context.Value("i", 0), context.Queue()
    processes = [context.Process(target=shared, args=(counter, queue)) for _ in range(3)]
    for process in processes:
        process.start()
    print(sorted(queue.get(timeout=60) for _ in processes))
    for process in processes:
        process.join()
    print(counter.value, [process.exitcode for process in processes])
    killed = context.Process(target=burn, args=(3600,))
    killed.start()
    killed.terminate()
    killed.join()
    print(killed.exitcode, os.getpid() != killed.pid)
