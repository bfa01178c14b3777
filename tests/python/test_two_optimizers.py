"""Several DistributedOptimizers in one script, and parameters that are given to them in other ways than by named_parameters()."""

import copy

import pytest
import small
import torch
from torch import nn

import leeway.torch as lw
from leeway import errors, session
from leeway.torch import local_state


def models():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))


def wrapped(model, **options):
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters(), **options)
    lw.broadcast_parameters(model.state_dict())
    return optimizer


def noise(step):
    return torch.randn(8, 4, generator=torch.Generator().manual_seed(step))


def train_gan(generator, discriminator, of_generator, of_discriminator, set_to_none):
    for step in range(5):
        discriminator.zero_grad(set_to_none=set_to_none)
        (1 + discriminator(noise(step)[:, :2])).pow(2).mean().backward()
        fake = generator(noise(step))
        discriminator(fake.detach()).pow(2).mean().backward()
        of_discriminator.step()
        generator.zero_grad(set_to_none=set_to_none)
        discriminator(fake).mean().backward()  # adds to the discriminator's gradients too: the next zero_grad() forgets that
        of_generator.step()


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("overlap", [None, False])
def test_a_gan_is_trained_as_torch_does(alone, set_to_none, overlap):
    plain, ours = models(), models()
    train_gan(*plain, *map(small.sgd, plain), set_to_none)
    train_gan(*ours, *[wrapped(model, overlap=overlap) for model in ours], set_to_none)
    alone.shutdown()
    assert all(small.close(a, b) and not small.close(a, c, 1e-3) for a, b, c in zip(ours, plain, models()))


def train_wgan(generator, critic, of_generator, of_critic):
    for step in range(3):
        for inner in range(5):
            critic.zero_grad()
            fake = generator(noise(10 * step + inner)).detach()
            (critic(fake).mean() - critic(noise(inner)[:, :2]).mean()).backward()
            of_critic.step()
        generator.zero_grad()
        (-critic(generator(noise(step))).mean()).backward()
        of_generator.step()


@pytest.mark.parametrize("sync", ["bsp", "ssp:2", "ssptable:1", "bounded:0"])
def test_each_optimizer_counts_its_own_steps_and_the_job_those_of_all(alone, sync):
    plain, ours = models(), models()
    train_wgan(*plain, *map(small.sgd, plain))
    of_generator, of_critic = [wrapped(model, sync=sync) for model in ours]
    train_wgan(*ours, of_generator, of_critic)
    assert (of_generator.steps, of_critic.steps, alone.iteration()) == (3, 15, 18)
    with pytest.raises(AttributeError):
        of_critic.steps = 1
    of_critic.skip()
    assert (of_generator.steps, of_critic.steps) == (3, 16)
    alone.shutdown()
    if sync in ("bsp", "bounded:0"):  # the others may read values that lack this worker's own last steps
        assert all(small.close(a, b) and not small.close(a, c, 1e-3) for a, b, c in zip(ours, plain, models()))


@pytest.mark.parametrize("clip", [lambda model: None, lambda model: nn.utils.clip_grad_norm_(model.parameters(), 1.0)],
                         ids=["", "clipped"])
def test_gradients_of_another_model_that_are_never_zeroed_are_an_error(alone, clip):
    generator, discriminator = models()
    of_generator, of_discriminator = wrapped(generator), wrapped(discriminator)
    discriminator(noise(0)[:, :2]).mean().backward()
    of_discriminator.step()
    discriminator(generator(noise(0))).mean().backward()
    of_generator.step()
    discriminator(noise(1)[:, :2]).mean().backward()
    clip(discriminator)
    with pytest.raises(errors.FailedPrecondition, match="optimizer1.*zero_grad"):
        of_discriminator.step()


def test_what_was_zeroed_and_not_used_again_is_absent(alone):
    generator, discriminator = models()
    of_generator, of_discriminator = wrapped(generator), wrapped(discriminator)
    discriminator(generator(noise(0))).mean().backward()
    of_discriminator.step()
    before = [parameter.detach().clone() for parameter in discriminator.parameters()]
    discriminator(generator(noise(0))).mean().backward()
    of_discriminator.zero_grad()
    of_discriminator.step()
    of_generator.step()
    assert all(torch.equal(a, b) for a, b in zip(before, discriminator.parameters()))


def test_one_of_several_overlaps_if_it_is_told_to(alone):
    generator, discriminator = models()
    first, told = wrapped(generator), wrapped(discriminator, overlap=True)
    discriminator(generator(noise(0))).mean().backward()
    assert [any(table.gradient.pushed for table in optimizer.tables) for optimizer in (first, told)] == [False, True]


def test_skipping_what_has_left_is_an_error_that_says_what_to_do(alone):
    model = small.model()
    optimizer = small.distributed(model, overlap=True)
    small.loss(model, 0).backward()
    with pytest.raises(errors.FailedPrecondition, match="skip.*has pushed.*overlap=False"):
        optimizer.skip()
    optimizer.step()  # it harmed nothing
    optimizer.skip()
    assert alone.iteration() == 2


def test_a_parameter_of_two_optimizers_is_refused_by_name_and_with_the_cure(alone):
    model = small.model()
    optimizer = small.distributed(model)
    head = [("head", model[3].weight)]
    with pytest.raises(errors.AlreadyExists, match=r"parameter head .*as 3\.weight.*lw.shutdown\(\) and lw.init\(\)"):
        lw.DistributedOptimizer(torch.optim.SGD([model[3].weight], lr=0.1), head)
    small.loss(model, 0).backward()
    optimizer.step()  # the first one is as it was
    lw.shutdown()
    lw.init()
    small.loss(model, 0).backward()
    small.distributed(model)


@pytest.mark.parametrize("given", [lambda net: net, lambda net: net.parameters()], ids=["names", "positions"])
def test_buffers_of_models_with_the_same_names_are_kept_apart(alone, given):
    nets = [nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) for _ in range(2)]
    for net in nets:
        lw.DistributedOptimizer(small.sgd(net), given(net))
        lw.broadcast_parameters(net)
    saved = copy.deepcopy(local_state.of(session.current()).save())
    for value, net in enumerate(nets):
        net[1].running_mean.fill_(value + 1.0)
    local_state.of(session.current()).load(saved)
    assert [net[1].running_mean.tolist() for net in nets] == [[0.0] * 3] * 2


def test_buffers_of_a_model_that_nobody_trains_do_not_replace_those_of_the_trained_one(alone):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    mean_of_weights = copy.deepcopy(net)  # as scripts keep one for evaluation
    lw.DistributedOptimizer(small.sgd(net), net.named_parameters())
    state = local_state.of(session.current())
    for model in (net, mean_of_weights):
        lw.broadcast_parameters(model.state_dict())
    net[1].running_mean.fill_(1.0)
    mean_of_weights[1].running_mean.fill_(2.0)
    saved = copy.deepcopy(state.save())
    for model in (net, mean_of_weights):
        model[1].running_mean.zero_()
    state.load(saved)
    assert [model[1].running_mean.tolist() for model in (net, mean_of_weights)] == [[1.0] * 3, [2.0] * 3]
    assert "1.running_mean" in saved["buffers"], "the trained model's own name"


def test_an_optimizer_of_which_a_part_was_broadcast_is_refused_at_the_first_gradient(alone):
    model, extra = small.model(), nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([*model.parameters(), extra], lr=0.1)
    lw.DistributedOptimizer(optimizer, [*model.named_parameters(), ("extra", extra)])
    lw.broadcast_parameters(model.state_dict())
    with pytest.raises(errors.FailedPrecondition, match=r"1 of the 7 parameters .* have no initial values in the job \(extra\)"):
        small.loss(model, 0).backward()


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group with duplicate parameters")
def test_a_parameter_that_an_optimizer_has_twice_is_refused_by_name(alone):
    model = small.model()
    with pytest.raises(errors.InvalidArgument, match="parameter 3.weight is in group 0 twice"):
        lw.DistributedOptimizer(torch.optim.SGD([*model.parameters(), model[3].weight], lr=0.1), model.named_parameters())


@pytest.mark.parametrize("given, names", [
    (lambda model: model, ["0.weight", "0.bias", "3.weight"]), (lambda model: dict(model.named_parameters()), ["0.weight", "0.bias", "3.weight"]),
    (lambda model: model.parameters(), ["parameter0", "parameter1", "parameter2"]), (lambda model: None, ["parameter0", "parameter1", "parameter2"])],
    ids=["model", "dict", "parameters", "nothing"])
def test_parameters_may_be_given_in_other_ways(alone, given, names):
    plain, model = small.model(), small.model()
    optimizer = lw.DistributedOptimizer(small.sgd(model), given(model))
    lw.broadcast_parameters(model)
    assert [table.name for table in optimizer.tables][:3] == names
    for net, steps in ((plain, small.sgd(plain)), (model, optimizer)):
        small.loss(net, 0).backward()
        steps.step()
    lw.shutdown()
    assert small.close(model, plain)


@pytest.mark.parametrize("call, says", [
    (lambda model: lw.DistributedOptimizer(small.sgd(model), model[0].weight), r"got a Parameter, wanted model.named_parameters\(\)"),
    (lambda model: lw.DistributedOptimizer(small.sgd(model), 3), "got a int"),
    (lambda model: lw.DistributedOptimizer(small.sgd(model), [("w", 3)]), "item 0, w, is a int"),
    (lambda model: lw.broadcast_parameters(model[0].weight), r"got a Parameter, wanted model.state_dict\(\)"),
    (lambda model: lw.broadcast_parameters({"w": "x"}), "item 0, w, is a str")])
def test_what_has_no_parameters_is_refused_with_what_to_give(alone, call, says):
    with pytest.raises(errors.InvalidArgument, match=says):
        call(small.model())


@pytest.mark.parametrize("options", [{"foreach": True}, {"foreach": True, "capturable": True}, {"fused": True}])
def test_options_that_only_make_a_step_faster_are_accepted(alone, options):
    plain, model = small.model(), small.model()
    inner = torch.optim.Adam(model.parameters(), lr=1e-2)
    inner.param_groups[0].update(options)  # torch itself wants a GPU for some of them
    for net, optimizer in ((plain, torch.optim.Adam(plain.parameters(), lr=1e-2)), (model, small.distributed(model, inner))):
        small.loss(net, 0).backward()
        optimizer.step()
    assert float(optimizer.state_dict()["state"][0]["step"]) == 1.0
    lw.shutdown()
    assert small.close(model, plain)
