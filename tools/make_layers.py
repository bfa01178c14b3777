#!/usr/bin/env python3
"""Writes src/problem/models/*.layers: name and shape of every trainable tensor of well-known models, in forward order.

    make_layers.py [FOLDER]     writes every model, and ends with 1 if one has not the number of parameters that it is known for

Needs nothing but Python. A model is a function below that adds its tensors to a Layers, as its paper (and torchvision, where that
has it) describes it. Means and variances of batch normalization are no parameters and are left out.
"""

import sys
from pathlib import Path


class Layers:
    """The tensors of one model, in order."""

    def __init__(self):
        self.tensors = []

    def add(self, name, *shape):
        self.tensors.append((name, shape))

    def conv(self, name, inputs, outputs, kernel, bias=True):
        height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        self.add(f"{name}.weight", outputs, inputs, height, width)
        if bias:
            self.add(f"{name}.bias", outputs)

    def norm(self, name, channels):
        self.add(f"{name}.weight", channels)
        self.add(f"{name}.bias", channels)

    def conv_norm(self, name, inputs, outputs, kernel):
        """A convolution without bias and its batch normalization; returns its outputs, for chains."""
        self.conv(f"{name}.conv", inputs, outputs, kernel, bias=False)
        self.norm(f"{name}.bn", outputs)
        return outputs

    def chain(self, name, inputs, *steps):
        """conv_norm after conv_norm, each (outputs, kernel); returns the last outputs."""
        for number, (outputs, kernel) in enumerate(steps):
            inputs = self.conv_norm(f"{name}.{number}", inputs, outputs, kernel)
        return inputs

    def linear(self, name, inputs, outputs):
        self.add(f"{name}.weight", outputs, inputs)
        self.add(f"{name}.bias", outputs)

    def parameters(self):
        total = 0
        for _, shape in self.tensors:
            elements = 1
            for extent in shape:
                elements *= extent
            total += elements
        return total


def alexnet(m):
    convolutions = [(3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3)]
    for number, (inputs, outputs, kernel) in enumerate(convolutions, 1):
        m.conv(f"conv{number}", inputs, outputs, kernel)
    for number, (inputs, outputs) in enumerate([(256 * 6 * 6, 4096), (4096, 4096), (4096, 1000)], 6):
        m.linear(f"fc{number}", inputs, outputs)


def vgg16(m):
    inputs = 3
    for stage, (outputs, repeats) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], 1):
        for repeat in range(1, repeats + 1):
            m.conv(f"conv{stage}_{repeat}", inputs, outputs, 3)
            inputs = outputs
    for number, (inputs, outputs) in enumerate([(512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)], 6):
        m.linear(f"fc{number}", inputs, outputs)


def resnet_of_bottlenecks(m, stages):
    m.conv("conv1", 3, 64, 7, bias=False)
    m.norm("bn1", 64)
    inputs = 64
    for stage, blocks in enumerate(stages, 1):
        width = 64 * 2 ** (stage - 1)
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            for number, (of, to, kernel) in enumerate([(inputs, width, 1), (width, width, 3), (width, 4 * width, 1)], 1):
                m.conv(f"{name}.conv{number}", of, to, kernel, bias=False)
                m.norm(f"{name}.bn{number}", to)
            if block == 0:
                m.conv(f"{name}.downsample.0", inputs, 4 * width, 1, bias=False)
                m.norm(f"{name}.downsample.1", 4 * width)
            inputs = 4 * width
    m.linear("fc", inputs, 1000)


def resnet_for_cifar(m, blocks):
    """6n + 2 layers with n blocks a stage; shortcuts that grow are padded with zeros (option A) and have no parameters."""
    m.conv("conv1", 3, 16, 3, bias=False)
    m.norm("bn1", 16)
    inputs = 16
    for stage, width in enumerate([16, 32, 64], 1):
        for block in range(blocks):
            for number, of in enumerate([inputs, width], 1):
                m.conv(f"layer{stage}.{block}.conv{number}", of, width, 3, bias=False)
                m.norm(f"layer{stage}.{block}.bn{number}", width)
            inputs = width
    m.linear("fc", 64, 10)


def googlenet(m):
    inputs = m.conv_norm("conv1", 3, 64, 7)
    inputs = m.conv_norm("conv2", inputs, 64, 1)
    inputs = m.conv_norm("conv3", inputs, 192, 3)
    # One row a module: 1x1; reduction and 3x3; reduction and the branch that is 5x5 in the paper; after the pooling.
    modules = {"3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64), "4a": (192, 96, 208, 16, 48, 64),
               "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
               "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128)}
    for name, (one, to_three, three, to_five, five, pooled) in modules.items():
        name = f"inception{name}"
        inputs = (m.conv_norm(f"{name}.branch1", inputs, one, 1) + m.chain(f"{name}.branch2", inputs, (to_three, 1), (three, 3)) +
                  m.chain(f"{name}.branch3", inputs, (to_five, 1), (five, 3)) + m.conv_norm(f"{name}.branch4", inputs, pooled, 1))
    m.linear("fc", inputs, 1000)


def inception_v4(m):
    channels = m.chain("stem.1", 3, (32, 3), (32, 3), (64, 3))
    channels += m.conv_norm("stem.2", channels, 96, 3)
    channels = (m.chain("stem.3.branch1", channels, (64, 1), (96, 3)) +
                m.chain("stem.3.branch2", channels, (64, 1), (64, (1, 7)), (64, (7, 1)), (96, 3)))
    channels += m.conv_norm("stem.4", channels, 192, 3)
    for number in range(1, 5):
        channels = inception_a(m, f"a{number}", channels)
    channels += (m.conv_norm("reduction_a.branch1", channels, 384, 3) +
                 m.chain("reduction_a.branch2", channels, (192, 1), (224, 3), (256, 3)))
    for number in range(1, 8):
        channels = inception_b(m, f"b{number}", channels)
    channels += (m.chain("reduction_b.branch1", channels, (192, 1), (192, 3)) +
                 m.chain("reduction_b.branch2", channels, (256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3)))
    for number in range(1, 4):
        channels = inception_c(m, f"c{number}", channels)
    m.linear("fc", channels, 1000)


def inception_a(m, name, channels):
    return (m.conv_norm(f"{name}.branch1", channels, 96, 1) + m.chain(f"{name}.branch2", channels, (64, 1), (96, 3)) +
            m.chain(f"{name}.branch3", channels, (64, 1), (96, 3), (96, 3)) + m.conv_norm(f"{name}.branch4", channels, 96, 1))


def inception_b(m, name, channels):
    long = [(192, 1), (192, (7, 1)), (224, (1, 7)), (224, (7, 1)), (256, (1, 7))]
    return (m.conv_norm(f"{name}.branch1", channels, 384, 1) +
            m.chain(f"{name}.branch2", channels, (192, 1), (224, (1, 7)), (256, (7, 1))) +
            m.chain(f"{name}.branch3", channels, *long) + m.conv_norm(f"{name}.branch4", channels, 128, 1))


def inception_c(m, name, channels):
    outputs = m.conv_norm(f"{name}.branch1", channels, 256, 1)
    for branch, steps in (("branch2", [(384, 1)]), ("branch3", [(384, 1), (448, (3, 1)), (512, (1, 3))])):
        width = m.chain(f"{name}.{branch}", channels, *steps)
        outputs += m.conv_norm(f"{name}.{branch}.wide", width, 256, (1, 3))
        outputs += m.conv_norm(f"{name}.{branch}.tall", width, 256, (3, 1))
    return outputs + m.conv_norm(f"{name}.branch4", channels, 256, 1)


def densenet121(m):
    growth, channels = 32, 64
    m.conv("conv0", 3, channels, 7, bias=False)
    m.norm("norm0", channels)
    for block, layers in enumerate([6, 12, 24, 16], 1):
        for layer in range(1, layers + 1):
            name = f"block{block}.layer{layer}"
            m.norm(f"{name}.norm1", channels)
            m.conv(f"{name}.conv1", channels, 4 * growth, 1, bias=False)
            m.norm(f"{name}.norm2", 4 * growth)
            m.conv(f"{name}.conv2", 4 * growth, growth, 3, bias=False)
            channels += growth
        if block < 4:
            m.norm(f"transition{block}.norm", channels)
            m.conv(f"transition{block}.conv", channels, channels // 2, 1, bias=False)
            channels //= 2
    m.norm("norm5", channels)
    m.linear("classifier", channels, 1000)


RESNET = "He et al., Deep Residual Learning for Image Recognition, 2015"

# Name -> (how to add its tensors, its parameters as others count them, where it comes from).
MODELS = {
    "alexnet": (alexnet, 61_100_840, """
        Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014; ImageNet, as torchvision has it."""),
    "vgg16": (vgg16, 138_357_544, """
        Simonyan and Zisserman, Very Deep Convolutional Networks, 2014; configuration D, ImageNet."""),
    "resnet50": (lambda m: resnet_of_bottlenecks(m, [3, 4, 6, 3]), 25_557_032, f"{RESNET}; ImageNet."),
    "resnet101": (lambda m: resnet_of_bottlenecks(m, [3, 4, 23, 3]), 44_549_160, f"{RESNET}; ImageNet."),
    "resnet56": (lambda m: resnet_for_cifar(m, 9), 853_018, f"{RESNET}, section 4.2; CIFAR-10, shortcuts of option A."),
    "resnet110": (lambda m: resnet_for_cifar(m, 18), 1_727_962, f"{RESNET}, section 4.2; CIFAR-10, shortcuts of option A."),
    "googlenet": (googlenet, 6_624_904, """
        Szegedy et al., Going Deeper with Convolutions, 2014; ImageNet, as torchvision has it: with batch normalization,
        3x3 where the paper has 5x5, without the two auxiliary classifiers."""),
    "inception-v4": (inception_v4, 42_679_816, """
        Szegedy et al., Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning, 2016; ImageNet,
        with batch normalization."""),
    "densenet121": (densenet121, 7_978_856, """
        Huang et al., Densely Connected Convolutional Networks, 2016; ImageNet."""),
}


def text_of(name, layers, source):
    lines = [f"# {name}: {layers.parameters():,} parameters in {len(layers.tensors)} tensors, in the order of a forward pass."]
    lines += [f"# {line.strip()}" for line in source.strip().splitlines()]
    lines += ["# Written by tools/make_layers.py."]
    lines += [f"{tensor} {'x'.join(map(str, shape))}" for tensor, shape in layers.tensors]
    return "\n".join(lines) + "\n"


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "src/problem/models")
    wrong = 0
    for name, (describe, wanted, source) in MODELS.items():
        layers = Layers()
        describe(layers)
        (folder / f"{name}.layers").write_text(text_of(name, layers, source), encoding="utf-8")
        if layers.parameters() != wanted:
            wrong += 1
            print(f"{name}: got {layers.parameters():,} parameters, wanted {wanted:,}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
