// What ONNX Runtime makes of an input: node ort.mjs MODULES FILE.onnx IN.npy OUT.npy   (float32 or int64, row-major)
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [modules, file, input, output] = process.argv.slice(2);
const ort = createRequire(resolve(modules, "x.js"))("onnxruntime-node");

const bytes = readFileSync(input);
const start = 10 + bytes.readUInt16LE(8);
const header = bytes.toString("latin1", 10, start);
const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(",").map((d) => d.trim()).filter(Boolean).map(Number);
const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
const whole = header.includes("<i8");
const tensor = new ort.Tensor(whole ? "int64" : "float32", whole ? new BigInt64Array(data) : new Float32Array(data), shape);

const net = await ort.InferenceSession.create(file, { intraOpNumThreads: 1, interOpNumThreads: 1 });
const result = (await net.run({ [net.inputNames[0]]: tensor }))[net.outputNames[0]];
const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${result.dims.join(", ")},), }`;
const padded = text.padEnd(64 * Math.ceil((text.length + 11) / 64) - 11) + "\n";
const magic = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length & 255, padded.length >> 8]);
const numbers = Buffer.from(result.data.buffer, result.data.byteOffset, result.data.byteLength);
writeFileSync(output, Buffer.concat([magic, Buffer.from(padded, "latin1"), numbers]));
