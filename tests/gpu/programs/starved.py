"""A training loop whose data comes late: the GPU idles most of the time."""

import time

import torch

model = torch.nn.Linear(2048, 2048).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def load():
    end = time.perf_counter() + 0.03
    while time.perf_counter() < end:
        pass  # load
    return torch.randn(512, 2048)


def main():
    for _ in range(60):
        data = load()
        data = data.cuda()  # to the device
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()  # item


main()
