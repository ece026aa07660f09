// How many of CIFAR-10's test images an ONNX file gets right in ONNX Runtime.
//   node accuracy.mjs MODULES FILE TEST_BATCH.bin [MEAN STD]
// e.g. hewn export resnet20.safetensors --model resnet20 --data cifar10:cifar-10-batches-bin --to resnet20.onnx
//      node accuracy.mjs ort/node_modules resnet20.onnx cifar-10-batches-bin/test_batch.bin .485,.456,.406 .229,.224,.225
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, file, images, mean = ".485,.456,.406", deviation = ".229,.224,.225"] = process.argv.slice(2);
const ort = createRequire(resolve(modules, "x.js"))("onnxruntime-node");
const numbers = (text) => text.split(",").map(Number);
const [means, deviations] = [numbers(mean), numbers(deviation)];
const pixels = 32 * 32;
const row = 1 + 3 * pixels; // a label, then the three channels
const batch = 200;

const bytes = readFileSync(images);
const count = bytes.length / row;
const net = await ort.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
let right = 0;
for (let first = 0; first < count; first += batch) {
  const size = Math.min(batch, count - first);
  const data = new Float32Array(size * 3 * pixels);
  for (let i = 0; i < data.length; ++i) {
    const channel = Math.floor(i / pixels) % 3;
    const byte = bytes[(first + Math.floor(i / (3 * pixels))) * row + 1 + (i % (3 * pixels))];
    data[i] = (byte / 255 - means[channel]) / deviations[channel];
  }
  const feeds = { [net.inputNames[0]]: new ort.Tensor("float32", data, [size, 3, 32, 32]) };
  const scores = (await net.run(feeds))[net.outputNames[0]];
  const classes = scores.dims[1];
  for (let i = 0; i < size; ++i) {
    const own = scores.data.subarray(i * classes, (i + 1) * classes);
    right += own.indexOf(Math.max(...own)) === bytes[(first + i) * row] ? 1 : 0;
  }
}
console.log(`${right} of ${count} right: ${((100 * right) / count).toFixed(2)} %`);
