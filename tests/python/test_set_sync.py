"""set_sync() and the words of DistributedOptimizer and init() about synchronization, in a job of one process."""

import pytest
import small

import leeway.torch as lw
from leeway.errors import InvalidArgument, LeewayError
from leeway.synchronization import rule


def train(model, optimizer, step):
    optimizer.zero_grad()
    small.loss(model, step).backward()
    optimizer.step()


def test_a_model_is_switched_while_it_trains(alone):
    model = small.model()
    optimizer = small.distributed(model)
    tables = len(list(model.parameters()))
    for step, sync in enumerate(["ssp:2", "asp", "pssp:1,0.5", 'when:pull="progress < v_train + 1",push="count >= workers"',
                                 "bsp"]):
        train(model, optimizer, step)
        assert alone.set_sync(sync) == tables
    assert alone.set_sync("ssp:1", tables="3.*", server=0) == 2
    assert alone.set_sync(apply="immediate", tables="3.weight") == 1
    train(model, optimizer, 9)


@pytest.mark.parametrize("words, wanted", [
    (dict(sync="drop:9"), "needs 9 workers, got a job of 1"),
    (dict(sync="pssp:3,0.5", apply="aggregate"), "use immediate"),
    (dict(sync="bsp", tables="lstm*"), "matches no table"),
    (dict(sync="bsp", server=1), "wanted 0 to 0"),
    (dict(sync="bpp"), "did you mean"),
    (dict(sync='when:pull="progres < 2",push="count >= workers"'), "progress"),
    (dict(), "got neither sync nor apply"),
    (dict(sync=3), "sync: got 3, wanted text"),
    (dict(sync="bsp", server="0"), "server: got '0'"),
    (dict(sync="bsp", server=-1), "wanted a server's number"),
])
def test_what_cannot_be_is_refused_and_training_goes_on(alone, words, wanted):
    model = small.model()
    optimizer = small.distributed(model)
    with pytest.raises(LeewayError, match=wanted):
        alone.set_sync(**words)
    train(model, optimizer, 0)


def test_a_rule_is_quoted_as_rules_are():
    assert rule("ssp:3", "fc*", 1) == 'tables="fc*" sync="ssp:3" server=1'
    assert rule('when:pull="a"') == r'sync="when:pull=\"a\""'
    assert rule(apply="immediate") == 'apply="immediate"'


def test_pull_and_exchange_are_the_jobs():
    lw.init(pull="partial:0.9,50", exchange="every:2", rules=["tables=3.* sync=asp"])
    try:
        model = small.model()
        with pytest.raises(InvalidArgument, match='pull: got "full", wanted "partial:0.9,50"'):
            lw.DistributedOptimizer(small.sgd(model), model.named_parameters(), pull="full")
        with pytest.raises(InvalidArgument, match="exchange: got"):
            lw.DistributedOptimizer(small.sgd(model), model.named_parameters(), exchange="every:1")
        optimizer = small.distributed(model, pull="partial:b=0.9,tau_ms=50", exchange="every:k=2")
        train(model, optimizer, 0)
    finally:
        lw.shutdown()
