#!/usr/bin/python3
"""Writes the QDQ form of an ONNX network, as ONNX Runtime wants it for 8 bits: weights as signed bytes with a scale for each
output, and every activation between layers as bytes.

usage: qdq.py NETWORK.onnx TO.onnx

Scales of activations are the same for all, since time does not depend on them: this is for timing, not for accuracy.
Behind a Relu bytes begin at 0, elsewhere 0 lies in the middle. The Relu behind a convolution, a product or a sum stays inside
its group, so that it is fused.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PRODUCTS = {"Conv", "Gemm"}
THROUGH = {"MaxPool", "GlobalAveragePool", "Add", "Flatten", "Relu"} | PRODUCTS


def main():
    model = onnx.load(sys.argv[1])
    graph = model.graph
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    readers = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    added, nodes = [], []

    def constant(name, array):
        added.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def dequantised_weight(name, node):
        weight = constants[name]
        turned = node.op_type == "Gemm" and not any(a.name == "transB" and a.i for a in node.attribute)
        axis = 1 if turned else 0
        largest = np.abs(weight).max(axis=tuple(i for i in range(weight.ndim) if i != axis))
        scale = (np.maximum(largest, 1e-8) / 127).astype(np.float32)
        shape = [-1 if i == axis else 1 for i in range(weight.ndim)]
        whole = np.clip(np.rint(weight / scale.reshape(shape)), -127, 127).astype(np.int8)
        inputs = [constant(name + ".q", whole), constant(name + ".s", scale),
                  constant(name + ".z", np.zeros(len(scale), np.int8))]
        nodes.append(helper.make_node("DequantizeLinear", inputs, [name + ".dq"], axis=axis))
        return name + ".dq", scale

    def bytes_of(name, positive):
        scale = constant(name + ".s", np.float32(4 / 255 if positive else 8 / 255))
        zero = constant(name + ".z", np.uint8(0 if positive else 128))
        nodes.append(helper.make_node("QuantizeLinear", [name, scale, zero], [name + ".q"]))
        nodes.append(helper.make_node("DequantizeLinear", [name + ".q", scale, zero], [name + ".dq"]))
        return name + ".dq"

    held = {graph.input[0].name: bytes_of(graph.input[0].name, False)}
    positive = set()
    for node in graph.node:
        if node.op_type not in THROUGH:
            sys.exit(f"{node.op_type}: not one of {sorted(THROUGH)}")
        first = node.input[0]
        for i, name in enumerate(node.input):
            node.input[i] = held.get(name, name)
        if node.op_type in PRODUCTS:
            node.input[1], scale = dequantised_weight(node.input[1], node)
            if len(node.input) > 2:
                scales = scale * np.float32(4 / 255 if first in positive else 8 / 255)
                whole = np.rint(constants[node.input[2]] / scales).astype(np.int32)
                name = node.input[2]
                inputs = [constant(name + ".q", whole), constant(name + ".s", scales),
                          constant(name + ".z", np.zeros(len(scales), np.int32))]
                nodes.append(helper.make_node("DequantizeLinear", inputs, [name + ".dq"], axis=0))
                node.input[2] = name + ".dq"
        nodes.append(node)
        out = node.output[0]
        after = readers.get(out, [])
        fused = len(after) == 1 and after[0].op_type == "Relu" and node.op_type in PRODUCTS | {"Add"}
        if node.op_type == "Relu" or (node.op_type not in PRODUCTS | {"Add"} and first in positive):
            positive.add(out)
        if after and not fused:
            held[out] = bytes_of(out, out in positive)
    used = {name for node in nodes for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    new = helper.make_graph(nodes, graph.name, graph.input, graph.output, kept + added)
    result = helper.make_model(new, opset_imports=[helper.make_opsetid("", 14)])
    result.ir_version = 7
    onnx.checker.check_model(result)
    onnx.save(result, sys.argv[2])


main()
