"""A small training script."""

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Sequential(
    torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 10)
).cuda()
optimizer = torch.optim.Adam(model.parameters())
loss_function = torch.nn.CrossEntropyLoss()
data = TensorDataset(torch.randn(20000, 1024), torch.randint(0, 10, (20000,)))
total = 0.0
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=256, shuffle=True, num_workers=0):
        x, y = x.cuda(), y.cuda()
        optimizer.zero_grad()
        loss = loss_function(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
print("loss", total)
