#!/usr/bin/python3
"""Images a second that torchvision's ImageFolder gives on one core: torchvision_folder.py FOLDER SIZE RESIZE AREA IMAGES"""

import json
import sys
import time

import PIL
import torch
import torchvision
from torchvision import transforms

folder, size, resize, area, images = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
torch.set_num_threads(1)
normalise = [transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
chains = {"train": [transforms.RandomResizedCrop(size, (area, 1)), transforms.RandomHorizontalFlip()] + normalise,
          "test": [transforms.Resize(resize), transforms.CenterCrop(size)] + normalise}
out = {"pillow": PIL.__version__, "torchvision": torchvision.__version__}
for name, chain in chains.items():
    data = torchvision.datasets.ImageFolder(folder, transforms.Compose(chain))
    wanted = [i * len(data) // images for i in range(images)] if images < len(data) else range(len(data))
    rates = []
    for _ in range(4 if len(wanted) > 1000 else 12):
        begin = time.process_time()
        for i in wanted:
            data[i]
        rates.append(len(wanted) / (time.process_time() - begin))
    out[name] = sorted(rates)[len(rates) // 2]
print(json.dumps(out))
