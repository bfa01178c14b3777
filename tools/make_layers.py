#!/usr/bin/env python3
"""Writes src/problem/models/*.layers: name, shape and multiply-adds of every trainable tensor of well-known models, in forward order.

    make_layers.py [FOLDER]     writes every model, and ends with 1 if one has not the number of parameters that it is known for

Needs nothing but Python. A model is a function below that adds its tensors to a Layers, as its paper (and torchvision, where that
has it) describes it. Means and variances of batch normalization are no parameters and are left out.

Multiply-adds are those of the forward pass of one sample: a convolution and a linear layer count those of their weight, a normalization
one for each value. Biases, activations and poolings count none.
"""

import math
import sys
from pathlib import Path


class Layers:
    """The tensors of one model, in order."""

    def __init__(self, scales=True):
        self.tensors = []
        self.scales = scales  # whether batch normalization has a scale beside its shift
        self.extent = None  # height and width of what the next layers put out, where they do not say it themselves

    def add(self, name, *shape, multiply_adds=0):
        self.tensors.append((name, shape, multiply_adds))

    def conv(self, name, inputs, outputs, kernel, bias=True, extent=None):
        height, width = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        values = outputs * (extent or self.extent) ** 2
        self.add(f"{name}.weight", outputs, inputs, height, width, multiply_adds=values * inputs * height * width)
        if bias:
            self.add(f"{name}.bias", outputs)

    def norm(self, name, channels, extent=None):
        values = channels * (extent or self.extent) ** 2
        if self.scales:
            self.add(f"{name}.weight", channels, multiply_adds=values)
        self.add(f"{name}.bias", channels, multiply_adds=0 if self.scales else values)

    def conv_norm(self, name, inputs, outputs, kernel, bias=False, extent=None):
        """A convolution and its batch normalization; returns its outputs, for chains."""
        self.conv(f"{name}.conv", inputs, outputs, kernel, bias, extent)
        self.norm(f"{name}.bn", outputs, extent)
        return outputs

    def chain(self, name, inputs, *steps, bias=False, ends=None):
        """conv_norm after conv_norm, each (outputs, kernel); returns the last outputs. `ends` is the extent of the last."""
        for number, (outputs, kernel) in enumerate(steps, 1):
            extent = ends if number == len(steps) else None
            inputs = self.conv_norm(f"{name}.{number - 1}", inputs, outputs, kernel, bias, extent)
        return inputs

    def linear(self, name, inputs, outputs):
        self.add(f"{name}.weight", outputs, inputs, multiply_adds=inputs * outputs)
        self.add(f"{name}.bias", outputs)

    def parameters(self):
        return sum(math.prod(shape) for _, shape, _ in self.tensors)

    def multiply_adds(self):
        return sum(multiply_adds for _, _, multiply_adds in self.tensors)


def alexnet(m):
    convolutions = [(3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3)]
    for number, ((inputs, outputs, kernel), m.extent) in enumerate(zip(convolutions, [55, 27, 13, 13, 13]), 1):
        m.conv(f"conv{number}", inputs, outputs, kernel)
    for number, (inputs, outputs) in enumerate([(256 * 6 * 6, 4096), (4096, 4096), (4096, 1000)], 6):
        m.linear(f"fc{number}", inputs, outputs)


def vgg16(m):
    inputs = 3
    for stage, (outputs, repeats) in enumerate([(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)], 1):
        m.extent = 448 >> stage
        for repeat in range(1, repeats + 1):
            m.conv(f"conv{stage}_{repeat}", inputs, outputs, 3)
            inputs = outputs
    for number, (inputs, outputs) in enumerate([(512 * 7 * 7, 4096), (4096, 4096), (4096, 1000)], 6):
        m.linear(f"fc{number}", inputs, outputs)


def resnet_of_bottlenecks(m, stages):
    """The 3x3 convolution of a stage's first block halves the extent, as torchvision has it."""
    m.extent = 112
    m.conv("conv1", 3, 64, 7, bias=False)
    m.norm("bn1", 64)
    inputs, m.extent = 64, 56
    for stage, blocks in enumerate(stages, 1):
        width = 64 * 2 ** (stage - 1)
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            for number, (of, to, kernel) in enumerate([(inputs, width, 1), (width, width, 3), (width, 4 * width, 1)], 1):
                if number == 2:
                    m.extent = 112 >> stage
                m.conv(f"{name}.conv{number}", of, to, kernel, bias=False)
                m.norm(f"{name}.bn{number}", to)
            if block == 0:
                m.conv(f"{name}.downsample.0", inputs, 4 * width, 1, bias=False)
                m.norm(f"{name}.downsample.1", 4 * width)
            inputs = 4 * width
    m.linear("fc", inputs, 1000)


def resnet_before_activation(m, stages):
    """Units with normalization before each convolution, in the order in which MXNet creates their tensors."""
    m.norm("bn_data", 3, extent=224)
    m.extent = 112
    m.conv("conv0", 3, 64, 7, bias=False)
    m.norm("bn0", 64)
    inputs, m.extent = 64, 56
    for stage, units in enumerate(stages, 1):
        width = 64 * 2 ** (stage - 1)
        for unit in range(1, units + 1):
            name = f"stage{stage}_unit{unit}"
            for number, (of, to, kernel) in enumerate([(inputs, width, 1), (width, width, 3), (width, 4 * width, 1)], 1):
                m.norm(f"{name}_bn{number}", of)
                if number == 2:
                    m.extent = 112 >> stage
                m.conv(f"{name}_conv{number}", of, to, kernel, bias=False)
            if unit == 1:
                m.conv(f"{name}_sc", inputs, 4 * width, 1, bias=False)
            inputs = 4 * width
    m.norm("bn1", inputs)
    m.linear("fc1", inputs, 1000)


def resnet_of_pairs(m, stages, width):
    """Blocks of two 3x3 convolutions; `width` channels in the first stage, twice as many in each later one."""
    m.extent = 112
    m.conv("conv1", 3, width, 7, bias=False)
    m.norm("bn1", width)
    inputs = width
    for stage, blocks in enumerate(stages, 1):
        m.extent = 112 >> stage
        for block in range(blocks):
            name = f"layer{stage}.{block}"
            for number, of in enumerate([inputs, width], 1):
                m.conv(f"{name}.conv{number}", of, width, 3, bias=False)
                m.norm(f"{name}.bn{number}", width)
            if inputs != width:
                m.conv(f"{name}.downsample.0", inputs, width, 1, bias=False)
                m.norm(f"{name}.downsample.1", width)
            inputs = width
        width *= 2
    m.linear("fc", inputs, 1000)


def resnet_for_cifar(m, blocks, widths=(16, 32, 64)):
    """6n + 2 layers with n blocks a stage; shortcuts that grow are padded with zeros (option A) and have no parameters."""
    m.extent = 32
    m.conv("conv1", 3, widths[0], 3, bias=False)
    m.norm("bn1", widths[0])
    inputs = widths[0]
    for stage, width in enumerate(widths, 1):
        m.extent = 64 >> stage
        for block in range(blocks):
            for number, of in enumerate([inputs, width], 1):
                m.conv(f"layer{stage}.{block}.conv{number}", of, width, 3, bias=False)
                m.norm(f"layer{stage}.{block}.bn{number}", width)
            inputs = width
    m.linear("fc", inputs, 10)


def googlenet(m):
    inputs = m.conv_norm("conv1", 3, 64, 7, extent=112)
    m.extent = 56
    inputs = m.conv_norm("conv2", inputs, 64, 1)
    inputs = m.conv_norm("conv3", inputs, 192, 3)
    # One row a module: 1x1; reduction and 3x3; reduction and the branch that is 5x5 in the paper; after the pooling.
    modules = {"3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64), "4a": (192, 96, 208, 16, 48, 64),
               "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64), "4d": (112, 144, 288, 32, 64, 64),
               "4e": (256, 160, 320, 32, 128, 128), "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128)}
    for name, (one, to_three, three, to_five, five, pooled) in modules.items():
        m.extent = {"3": 28, "4": 14, "5": 7}[name[0]]
        name = f"inception{name}"
        inputs = (m.conv_norm(f"{name}.branch1", inputs, one, 1) + m.chain(f"{name}.branch2", inputs, (to_three, 1), (three, 3)) +
                  m.chain(f"{name}.branch3", inputs, (to_five, 1), (five, 3)) + m.conv_norm(f"{name}.branch4", inputs, pooled, 1))
    m.linear("fc", inputs, 1000)


def inception_bn(m):
    """As MXNet has it: every convolution has a bias, although its normalization has a shift."""
    inputs = m.conv_norm("conv.0", 3, 64, 7, bias=True, extent=112)
    for number, (outputs, kernel) in enumerate([(64, 1), (192, 3)], 1):
        inputs = m.conv_norm(f"conv.{number}", inputs, outputs, kernel, bias=True, extent=56)
    # One row a module that keeps the extent: 1x1; reduction and 3x3; reduction and the two 3x3; after the pooling. The two
    # that halve it have no 1x1, and pass on their inputs through the pooling.
    modules = {"3a": (64, 64, 64, 64, 96, 32), "3b": (64, 64, 96, 64, 96, 64), "3c": (0, 128, 160, 64, 96, 0),
               "4a": (224, 64, 96, 96, 128, 128), "4b": (192, 96, 128, 96, 128, 128), "4c": (160, 128, 160, 128, 160, 128),
               "4d": (96, 128, 192, 160, 192, 128), "4e": (0, 128, 192, 192, 256, 0),
               "5a": (352, 192, 320, 160, 224, 128), "5b": (352, 192, 320, 192, 224, 128)}
    for name, (one, to_three, three, to_double, double, pooled) in modules.items():
        m.extent = {"3": 28, "4": 14, "5": 7}[name[0]]
        ends = m.extent if one else m.extent // 2
        channels = m.conv_norm(f"{name}.1x1", inputs, one, 1, bias=True) if one else 0
        channels += m.chain(f"{name}.3x3", inputs, (to_three, 1), (three, 3), bias=True, ends=ends)
        channels += m.chain(f"{name}.double_3x3", inputs, (to_double, 1), (double, 3), (double, 3), bias=True, ends=ends)
        inputs = channels + (m.conv_norm(f"{name}.proj", inputs, pooled, 1, bias=True) if pooled else inputs)
    m.linear("fc1", inputs, 1000)


def inception_v4(m):
    channels = 3
    for number, (outputs, extent) in enumerate([(32, 149), (32, 147), (64, 147)]):
        channels = m.conv_norm(f"stem.1.{number}", channels, outputs, 3, extent=extent)
    m.extent = 73
    channels += m.conv_norm("stem.2", channels, 96, 3)
    channels = (m.chain("stem.3.branch1", channels, (64, 1), (96, 3), ends=71) +
                m.chain("stem.3.branch2", channels, (64, 1), (64, (1, 7)), (64, (7, 1)), (96, 3), ends=71))
    m.extent = 35
    channels += m.conv_norm("stem.4", channels, 192, 3)
    for number in range(1, 5):
        channels = inception_a(m, f"a{number}", channels)
    channels += (m.conv_norm("reduction_a.branch1", channels, 384, 3, extent=17) +
                 m.chain("reduction_a.branch2", channels, (192, 1), (224, 3), (256, 3), ends=17))
    m.extent = 17
    for number in range(1, 8):
        channels = inception_b(m, f"b{number}", channels)
    channels += (m.chain("reduction_b.branch1", channels, (192, 1), (192, 3), ends=8) +
                 m.chain("reduction_b.branch2", channels, (256, 1), (256, (1, 7)), (320, (7, 1)), (320, 3), ends=8))
    m.extent = 8
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


def densenet_for_cifar(m, layers, growth):
    """Three blocks of `layers` layers each, without bottlenecks and without compression."""
    channels, m.extent = 16, 32
    m.conv("conv0", 3, channels, 3, bias=False)
    for block in range(1, 4):
        m.extent = 64 >> block
        for layer in range(1, layers + 1):
            m.norm(f"block{block}.layer{layer}.norm", channels)
            m.conv(f"block{block}.layer{layer}.conv", channels, growth, 3, bias=False)
            channels += growth
        if block < 3:
            m.norm(f"transition{block}.norm", channels)
            m.conv(f"transition{block}.conv", channels, channels, 1, bias=False)
    m.norm("norm", channels)
    m.linear("classifier", channels, 10)


def densenet121(m):
    growth, channels, m.extent = 32, 64, 112
    m.conv("conv0", 3, channels, 7, bias=False)
    m.norm("norm0", channels)
    for block, layers in enumerate([6, 12, 24, 16], 1):
        m.extent = 112 >> block
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

# Name -> (how to add its tensors, its parameters as others count them, where it comes from, what else its Layers is told).
MODELS = {
    "alexnet": (alexnet, 61_100_840, """
        Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014; ImageNet, as torchvision has it."""),
    "vgg16": (vgg16, 138_357_544, """
        Simonyan and Zisserman, Very Deep Convolutional Networks, 2014; configuration D, ImageNet."""),
    "resnet50": (lambda m: resnet_of_bottlenecks(m, [3, 4, 6, 3]), 25_557_032, f"{RESNET}; ImageNet."),
    "resnet101": (lambda m: resnet_of_bottlenecks(m, [3, 4, 23, 3]), 44_549_160, f"{RESNET}; ImageNet."),
    "resnet101-v2": (lambda m: resnet_before_activation(m, [3, 4, 23, 3]), 44_541_614, """
        He et al., Identity Mappings in Deep Residual Networks, 2016; ImageNet, as MXNet has it: it also normalizes the images,
        and its tensors are in the order of MXNet."""),
    "resnet18-narrow": (lambda m: resnet_of_pairs(m, [2, 2, 2, 2], 45), 5_890_465, f"""
        {RESNET}; ImageNet, with 45, 90, 180
        and 360 channels in place of 64, 128, 256 and 512: SpecSync (2018, Table I) states 5.9 million parameters."""),
    "resnet56": (lambda m: resnet_for_cifar(m, 9), 853_018, f"{RESNET}, section 4.2; CIFAR-10, shortcuts of option A."),
    "resnet110": (lambda m: resnet_for_cifar(m, 18), 1_727_962, f"{RESNET}, section 4.2; CIFAR-10, shortcuts of option A."),
    "resnet110-wide": (lambda m: resnet_for_cifar(m, 18, (20, 40, 76)), 2_498_742, f"""
        {RESNET}, section 4.2; CIFAR-10, with 20, 40
        and 76 channels in place of 16, 32 and 64: SpecSync (2018, Table I) states 2.5 million parameters."""),
    "googlenet": (googlenet, 6_624_904, """
        Szegedy et al., Going Deeper with Convolutions, 2014; ImageNet, as torchvision has it: with batch normalization,
        3x3 where the paper has 5x5, without the two auxiliary classifiers."""),
    "googlenet-slim": (googlenet, 6_617_624, """
        Szegedy et al., Going Deeper with Convolutions, 2014; ImageNet, as TensorFlow's Slim has it: like googlenet, but batch
        normalization only shifts.""", {"scales": False}),
    "inception-bn": (inception_bn, 11_295_240, """
        Ioffe and Szegedy, Batch Normalization, 2015; ImageNet, as MXNet has it: with a bias for each convolution."""),
    "inception-v4": (inception_v4, 42_679_816, """
        Szegedy et al., Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning, 2016; ImageNet,
        with batch normalization."""),
    "inception-v4-slim": (inception_v4, 42_648_232, """
        Szegedy et al., Inception-v4, Inception-ResNet and the Impact of Residual Connections on Learning, 2016; ImageNet, as
        TensorFlow's Slim has it: batch normalization only shifts.""", {"scales": False}),
    "densenet121": (densenet121, 7_978_856, """
        Huang et al., Densely Connected Convolutional Networks, 2016; ImageNet."""),
    "densenet40": (lambda m: densenet_for_cifar(m, 12, 18), 2_218_522, """
        Huang et al., Densely Connected Convolutional Networks, 2016; CIFAR-10, 40 layers with growth 18 in place of 12, which
        gives 2.22 million parameters."""),
}


def text_of(name, layers, source):
    lines = [f"# {name}: {layers.parameters():,} parameters in {len(layers.tensors)} tensors, in the order of a forward pass,",
             f"# and {layers.multiply_adds():,} multiply-adds for one sample: the last number of a line."]
    lines += [f"# {line.strip()}" for line in source.strip().splitlines()]
    lines += ["# Written by tools/make_layers.py."]
    lines += [f"{tensor} {'x'.join(map(str, shape))}" + (f" {multiply_adds}" if multiply_adds else "")
              for tensor, shape, multiply_adds in layers.tensors]
    return "\n".join(lines) + "\n"


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "src/problem/models")
    wrong = 0
    for name, (describe, wanted, source, *how) in MODELS.items():
        layers = Layers(**(how[0] if how else {}))
        describe(layers)
        (folder / f"{name}.layers").write_text(text_of(name, layers, source), encoding="utf-8")
        if layers.parameters() != wanted:
            wrong += 1
            print(f"{name}: got {layers.parameters():,} parameters, wanted {wanted:,}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
