"""A proxy between worker and server delays, cuts and holds back what the training must stand."""

import threading
import time

import pytest
import torch
from frame_proxy import ANSWERS, PUSH, VERDICTS, Cut, proxy_for
from job import HANG_S, Job, wait_for_line

STEPS = 6


@pytest.fixture
def job(tmp_path):
    with Job(tmp_path, workers=1, servers=1) as job:
        yield job


def run_lent(job, proxy, elements):
    worker = job.start_worker(0, "lent", elements, scheduler=proxy.address)
    job.expect_end([worker])
    proxy.close()
    return torch.load(job.folder / "result.pt")


def test_zero_grad_does_not_reach_gradients_that_are_under_way(job):
    pushes, delayed = [], []

    def to_worker(frame, _):
        if frame.kind == VERDICTS and pushes:  # those before are of the initial values
            delayed.append(frame)
            time.sleep(0.1)
        return [frame]

    def on_header(kind):
        if kind == PUSH:  # more than the sockets hold: the rest is still in the gradient when the script overwrites it
            pushes.append(kind)
            time.sleep(0.1)

    result = run_lent(job, proxy_for(job, to_worker=to_worker, on_header=on_header), elements=4_000_000)
    assert len(pushes) >= STEPS and len(delayed) >= STEPS
    assert result["weight"].unique().tolist() == [-float(2**STEPS - 1)]


def test_a_gradient_cut_off_half_way_is_sent_again_as_it_was(job):
    cuts = []

    def to_server(frame, server):
        if frame.kind == PUSH and len(cuts) < 4:
            cuts.append(frame)
            whole = frame.encode()
            server.sendall(whole[:len(whole) // 2])
            time.sleep(0.1)  # meanwhile the script has overwritten its gradients
            raise Cut
        return [frame]

    result = run_lent(job, proxy_for(job, to_server=to_server), elements=100_000)
    assert len(cuts) == 4 and result["figures"]["reconnects"] >= 4 and result["figures"]["resent"] >= 4
    assert result["weight"].unique().tolist() == [-float(2**STEPS - 1)]


def test_forward_runs_up_to_the_layer_whose_values_are_held_back(job):
    bytes_of_layer_1 = 4 * 10 * 11
    seen, held, released = [], [], threading.Event()

    def to_worker(frame, worker):
        if frame.kind != ANSWERS or released.is_set():
            return [frame]
        passed = []
        for size, answer in frame.split_answers():
            if size == bytes_of_layer_1:
                seen.append(worker)
            if size == bytes_of_layer_1 and len(seen) > 1:  # the first are the initial values
                held.append(answer)
            else:
                passed.append(answer)
        return passed

    proxy = proxy_for(job, to_worker=to_worker)
    process = job.start_worker(0, "layers", scheduler=proxy.address)
    said = job.folder / "said"
    wait_for_line(said, "1 0")
    deadline = time.monotonic() + HANG_S
    while not held and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.4)
    lines = said.read_text().splitlines()
    assert held, "the answer for layer 1 must have been held back"
    assert "1 1" not in lines and "1 2" not in lines
    released.set()
    for answer in held:
        seen[-1].sendall(answer.encode())
    wait_for_line(said, "done")
    job.expect_end([process])
    proxy.close()
