"""Objects and attributes: a little operating system that passes packets between tasks."""
import sys


class Packet:
    __slots__ = ("kind", "payload", "hops")

    def __init__(self, kind, payload):
        self.kind = kind
        self.payload = payload
        self.hops = 0


class Task:
    def __init__(self, system, name, priority):
        self.system = system
        self.name = name
        self.priority = priority
        self.inbox = []
        self.handled = 0

    @property
    def ready(self):
        return bool(self.inbox)

    def post(self, packet):
        packet.hops += 1
        self.inbox.append(packet)

    def step(self):
        packet = self.inbox.pop()
        self.handled += 1
        self.handle(packet)

    def handle(self, packet):
        raise NotImplementedError


class Worker(Task):
    def handle(self, packet):
        packet.payload = (packet.payload * 1103515245 + 12345) & 0x7FFFFFFF
        self.system.route(packet, self)


class Device(Task):
    def __init__(self, system, name, priority):
        super().__init__(system, name, priority)
        self.checksum = 0

    def handle(self, packet):
        self.checksum = (self.checksum ^ packet.payload) & 0xFFFF
        if packet.hops < 400:
            self.system.route(packet, self)
        else:
            self.system.retire(packet)


class System:
    def __init__(self):
        self.tasks = []
        self.retired = 0
        self.steps = 0

    def add(self, kind, name, priority):
        self.tasks.append(kind(self, name, priority))

    def route(self, packet, sender):
        target = self.tasks[packet.payload % len(self.tasks)]
        if target is sender:
            target = self.tasks[(packet.payload + 1) % len(self.tasks)]
        target.post(packet)

    def retire(self, packet):
        self.retired += 1

    def schedule(self):
        while True:
            ready = [task for task in self.tasks if task.ready]
            if not ready:
                return
            for task in ready:
                if task.ready:
                    task.step()
                    self.steps += 1


def simulate(packets):
    system = System()
    for i in range(6):
        system.add(Worker if i % 2 else Device, "task%d" % i, i)
    for i in range(packets):
        system.tasks[i % 6].post(Packet("data", i * 7919))
    system.schedule()
    return system.retired, system.steps, [t.checksum for t in system.tasks if isinstance(t, Device)]


if __name__ == "__main__":
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    print(simulate(int(7_000 * scale)))
