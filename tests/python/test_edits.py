"""Edits that scripts make to parameters and gradients by hand: as with plain torch, or an error or warning that names it."""

import copy
import io
import multiprocessing
import os
import pickle
import warnings

import pytest
import small
import torch
from torch import nn

import leeway.torch as lw
from leeway import errors
from leeway.torch.arena_gradient import ArenaGradient

STEPS = 5


def train(model, optimizer, steps, edit=None, set_to_none=False):
    for step in steps:
        optimizer.zero_grad(set_to_none=set_to_none)
        small.loss(model, step).backward()
        if edit is not None:
            edit(model)
        optimizer.step()


def both_train(model, optimizer, plain, plain_optimizer, steps, **options):
    train(model, optimizer, steps, **options)
    train(plain, plain_optimizer, steps, **options)


@pytest.fixture(name="pair")
def fixture_pair(alone):
    """A model with Leeway, one without, and their optimizers."""
    model, plain = small.model(), small.model()
    return model, small.distributed(model), plain, small.sgd(plain)


def test_another_type_and_back_trains_on(pair):
    model, optimizer, plain, plain_optimizer = pair
    both_train(*pair, range(2))
    for trained in (model, plain):
        trained.double()
        trained.float()
    both_train(*pair, range(2, 2 + STEPS))
    assert small.close(model, plain)
    optimizer.zero_grad()
    small.loss(model, 0).backward()
    assert all(table.gradient.pushed for table in optimizer.tables), "by the hooks again"
    optimizer.step()


def test_another_type_and_back_before_the_broadcast(alone):
    model, plain = small.model(), small.model()
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters())
    for trained in (model, plain):
        trained.bfloat16()
        trained.float()
    lw.broadcast_parameters(model.state_dict())
    both_train(model, optimizer, plain, small.sgd(plain), range(STEPS))
    assert small.close(model, plain)


def test_another_type_and_back_while_frozen(pair):
    model, optimizer, plain, plain_optimizer = pair
    both_train(*pair, range(2))
    for trained in (model, plain):
        trained[0].requires_grad_(False)
        trained.double()
        trained.float()
        trained[0].requires_grad_(True)
    both_train(*pair, range(2, 2 + STEPS), set_to_none=True)
    assert small.close(model, plain)


def past_the_version(model):
    for parameter in model.parameters():
        parameter.grad.data.clamp_(-1e-3, 1e-3)


@pytest.mark.parametrize("set_to_none", [False, True])
@pytest.mark.parametrize("edit", [past_the_version, lambda model: nn.utils.clip_grad_value_(model.parameters(), 1e-3)],
                         ids=["data", "clip_grad_value_"])
def test_gradients_that_have_left_cannot_be_clipped_unnoticed(pair, edit, set_to_none):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(2), set_to_none=set_to_none)
    with pytest.raises(errors.FailedPrecondition, match="changed after backward.*overlap=False"):
        train(model, optimizer, range(2, 3), edit=edit, set_to_none=set_to_none)


@pytest.mark.parametrize("set_to_none", [False, True])
def test_gradients_may_be_clipped_by_value_without_overlap(alone, set_to_none):
    model, plain = small.model(), small.model()
    optimizer = small.distributed(model, overlap=False)
    both_train(model, optimizer, plain, small.sgd(plain), range(STEPS), edit=past_the_version, set_to_none=set_to_none)
    assert small.close(model, plain)


@pytest.mark.parametrize("set_to_none", [False, True])
def test_gradients_may_be_looked_at_through_their_data(pair, set_to_none):
    model, plain = pair[0], pair[2]
    norms = {id(model): [], id(plain): []}
    both_train(*pair, range(STEPS), set_to_none=set_to_none,
               edit=lambda trained: norms[id(trained)].append(sum(p.grad.data.norm(2).item() for p in trained.parameters())))
    assert norms[id(model)] == pytest.approx(norms[id(plain)], rel=1e-4) and small.close(model, plain)


def by_hand(model, optimizer, write, zeroed=True):
    for step in range(STEPS):
        if zeroed:
            optimizer.zero_grad()
        gradients = torch.autograd.grad(small.loss(model, step), list(model.parameters()))
        for parameter, gradient in zip(model.parameters(), gradients):
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                write(parameter.grad, gradient)
        optimizer.step()


@pytest.mark.parametrize("write", [lambda grad, new: grad.copy_(new), lambda grad, new: grad.add_(new),
                                   lambda grad, new: grad.data.copy_(new)], ids=["copy", "add", "data"])
@pytest.mark.parametrize("overlap", [True, False])
def test_gradients_written_in_place_by_hand_count(alone, write, overlap):
    model, plain = small.model(), small.model()
    by_hand(model, small.distributed(model, overlap=overlap), write)
    by_hand(plain, small.sgd(plain), write)
    assert small.close(model, plain)


@pytest.mark.parametrize("zeroed", [True, False])
def test_gradients_given_by_their_data_count(alone, zeroed):
    def write(grad, new):
        grad.data = new

    model, plain = small.model(), small.model()
    by_hand(model, small.distributed(model), write, zeroed)
    by_hand(plain, small.sgd(plain), write, zeroed)
    assert small.close(model, plain)


def test_a_gradient_of_another_type_is_named(alone):
    scale = nn.Parameter(torch.tensor(2.0))
    optimizer = lw.DistributedOptimizer(torch.optim.SGD([scale], lr=0.1), [("scale", scale)])
    lw.broadcast_parameters({"scale": scale})
    (scale * 3).backward()
    scale.data, scale.grad.data = scale.data.half(), scale.grad.data.half()
    with pytest.raises(errors.FailedPrecondition, match="scale"):
        optimizer.step()
    scale.data = scale.data.float()


def test_a_gradient_written_onto_what_was_not_zeroed_is_an_error(pair):
    with pytest.raises(errors.FailedPrecondition, match="without zero_grad.*p.grad = g"):
        by_hand(*pair[:2], lambda grad, new: grad.add_(new), zeroed=False)


def test_zeroed_gradients_without_a_backward_are_absent(pair):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(2))
    before = optimizer.figures()["absent"]
    optimizer.zero_grad()
    optimizer.zero_grad()
    optimizer.step()
    optimizer.synchronize()  # and so the outcomes are known
    assert optimizer.figures()["absent"] == before + len(optimizer.tables)


@pytest.mark.parametrize("change", [
    lambda model: model.load_state_dict(small.model(seed=7).state_dict()),
    lambda model: torch._foreach_mul_([parameter.detach() for parameter in model.parameters()], 0.9),
], ids=["load_state_dict", "in place"])
def test_parameters_changed_in_place_are_warned_of_once(pair, change):
    model, optimizer, plain, _ = pair
    both_train(*pair, range(2))
    change(model)
    optimizer.zero_grad()
    small.loss(model, 2).backward()
    with pytest.warns(RuntimeWarning, match=r"written to after training began.*lw\.assign\(parameter\)") as said:
        optimizer.step()
        optimizer.synchronize()
    assert len(said) == 1
    assert optimizer.figures()["overwritten_parameters"] == len(optimizer.tables)


def test_values_loaded_in_the_middle_of_training_do_not_last(pair):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(2))
    before, loaded = model[3].weight.clone(), small.model(seed=7)
    model.load_state_dict(loaded.state_dict())
    with pytest.warns(RuntimeWarning, match="written to after training began"):
        train(model, optimizer, range(2, 3))
        optimizer.synchronize()
    assert (model[3].weight - before).norm() < (loaded[3].weight - before).norm() / 2


def test_values_loaded_before_the_broadcast_or_at_the_end_are_no_reason_to_warn():
    lw.init()
    model = small.model()
    optimizer = lw.DistributedOptimizer(small.sgd(model), model.named_parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.load_state_dict(small.model(seed=7).state_dict())
        lw.broadcast_parameters(model.state_dict())
        train(model, optimizer, range(2))
        model.load_state_dict(small.model(seed=8).state_dict())
        lw.shutdown()


def test_a_gradient_in_the_arena_is_a_plain_tensor_to_everyone_else(pair):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(2))
    optimizer.zero_grad()
    small.loss(model, 2).backward()
    gradient = model[0].weight.grad
    assert type(gradient) is ArenaGradient
    file = io.BytesIO()
    torch.save(gradient, file)
    file.seek(0)
    others = [gradient.clone(), gradient * 2, gradient.detach(), gradient.data, copy.deepcopy(gradient), gradient[0],
              pickle.loads(pickle.dumps(gradient)), torch.load(file)]
    assert {type(other) for other in others} == {torch.Tensor}
    assert repr(gradient) == repr(gradient.clone())
    assert gradient.detach_() is gradient and gradient.zero_() is gradient
    assert copy.deepcopy(gradient).data_ptr() != gradient.data_ptr()


@pytest.mark.parametrize("option", ["maximize", "differentiable"])
def test_an_option_that_servers_do_not_have_is_refused_when_it_comes(pair, option):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(1))
    optimizer.param_groups[0][option] = True
    with pytest.raises(errors.InvalidArgument, match=f"SGD with {option}=True .parameter group 0."):
        train(model, optimizer, range(1, 2))


def test_modules_of_torchscript_are_left_alone(pair):
    model, optimizer, plain, plain_optimizer = pair
    teacher = torch.jit.script(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)))
    both_train(*pair, range(2))
    x, _ = small.batch(0)
    assert teacher(x).shape == (6, 10)
    both_train(*pair, range(2, STEPS))
    assert small.close(model, plain)


def test_a_traced_model_uses_the_newest_values(pair):
    model, optimizer, plain, plain_optimizer = pair
    both_train(*pair, range(2))
    traced = torch.jit.trace(model, small.batch(0)[0])
    train(traced, optimizer, range(2, STEPS))
    train(plain, plain_optimizer, range(2, STEPS))
    x, _ = small.batch(9)
    assert torch.allclose(traced(x), plain(x), atol=1e-5)
    assert small.close(model, plain)


def test_a_child_forked_before_the_values_came_says_what_to_do(pair):
    model, optimizer, _, _ = pair
    train(model, optimizer, range(2))

    def child(answers):
        try:
            small.loss(model, 0)
        except errors.FailedPrecondition as error:
            answers.put(str(error))
        else:
            answers.put("no error")

    def grandchild(answers):
        if os.fork() == 0:
            child(answers)
            os._exit(0)
        os.wait()

    context = multiprocessing.get_context("fork")
    for target, before, says in ((child, lambda: None, "call opt.synchronize() there before forking"),
                                 (child, optimizer.synchronize, "no error"), (grandchild, lambda: None, "no error")):
        before()
        answers = context.SimpleQueue()
        process = context.Process(target=target, args=(answers,))
        process.start()
        assert says in answers.get()
        process.join(30)


def test_an_optimizer_can_be_neither_copied_nor_pickled_nor_used_after_its_job():
    lw.init()
    model = small.model()
    optimizer = small.distributed(model)
    train(model, optimizer, range(1))
    for take in (copy.deepcopy, pickle.dumps):
        with pytest.raises(errors.FailedPrecondition, match="state_dict"):
            take(optimizer)
    lw.shutdown()
    optimizer.zero_grad()
    small.loss(model, 1).backward()
    with pytest.raises(errors.FailedPrecondition, match="after the end of the job"):
        optimizer.step()
