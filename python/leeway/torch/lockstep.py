"""Lockstep: the ranks of a job that step by themselves, and how one gets the state of another.

One small table has a place for each rank, and its mean shows every rank what the others do in an iteration. A rank whose data has
ended takes part in further iterations without gradients until all ranks are there. Then the ranks that trained last give the
others their parameters. A rank that joins a running job takes part in one iteration so, and gets the state after it.
"""

import secrets

import torch

from leeway import plain_state
from leeway._leeway import Hyper
from leeway.errors import FailedPrecondition, InvalidArgument, Unavailable
from leeway.torch import handover, local_state, notice, replicas
from leeway.torch.slot import Slot

_HYPER = Hyper(1.0)
# The word of a rank that trains is 1 and these: after this iteration it may be in the middle of a step; it has joined; it has
# found an infinity, so that no rank steps; then a digest of the options that it steps with.
_MID_STEP, _JOINED, _SKIPS, _DIGEST = 1, 2, 4, 8
# Words are at most this high, so that they are exact after a mean.
_WORD_MAX = 1 << 16
_PLACES_MIN = 64


class Lockstep:
    def __init__(self, session, group):
        self._session = session
        # A job that goes on from a checkpoint with some ranks more has a table of the same size.
        places = max(_PLACES_MIN, 1 << (session.size - 1).bit_length())
        # For each rank: how it trains, how long it has waited for the end, which state it needs. Then the sum of losses, the
        # samples behind it, and a 1 of every rank.
        self._trains_at, self._waits_at, self._needs_at, self._loss_at = 0, places, 2 * places, 3 * places
        self._words = 3 * places + 3
        self._optimizers = []
        self._free, self._lent = [], []   # slots to push from, and those on loan with their loans
        self._taken_part = False          # in this iteration
        self._away = 0                    # iterations without training, since the last one with it
        self._joined = False              # this process came to a job that ran
        self._trains, self._waits, self._needs = {}, {}, {}  # what ranks said in the last iteration, by rank
        self._losses = (0.0, 0.0)
        buffers = (self._new_slot(), self._new_slot())
        self._buffers = {slot.address: slot for slot in buffers}
        worker = session.worker
        self._table = worker.create_table("relay/lockstep", [self._words], sync="bsp", apply="relay", first=buffers[0].address,
                                          second=buffers[1].address, group=group)
        worker.start()
        worker.broadcast(self._table, buffers[0].address, self._words)
        session.state.add_own("relay", self._save, self._load)

    def add(self, optimizer):
        self._optimizers.append(optimizer)

    # One iteration.

    def take_part(self, optimizer, loss, samples, ends_step, skips):
        """Before the clock: this rank trains. After the iteration it is between two steps if `ends_step`."""
        word = (1 + _MID_STEP * (not ends_step) + _JOINED * self._joined + _SKIPS * skips +
                _DIGEST * replicas.options_digest(optimizer))
        words = {self._session.rank: word}
        weighted = None if loss is None else float(loss) * samples
        if weighted is not None and abs(weighted) < 1e38:  # not a NaN either: servers refuse the whole push
            words[self._loss_at], words[self._loss_at + 1] = weighted, samples
        self._away = 0
        self._push(words)

    def note_iteration(self):
        """Before every clock. In the step of an optimizer of the servers this rank trains as well."""
        if not self._taken_part:
            self._push({self._session.rank: 1 + _MID_STEP})
        self._taken_part = False

    def meet(self, loss=None):
        """After the clock: waits for the others. Returns the mean of their losses."""
        self._read()
        self._check_options()
        if loss is None or self._losses[1] == 0 or len(self._trains) == 1:
            return loss
        mean = self._losses[0] / self._losses[1]
        return loss.detach().clone().fill_(mean) if isinstance(loss, torch.Tensor) else mean

    def any_skips(self):
        """After meet(): has a rank found an infinity in this iteration?"""
        return any((word - 1) & _SKIPS for word in self._trains.values())

    def serve(self):
        """Between two iterations: gives the state to ranks that asked for it in the last one."""
        needs, self._needs = self._needs, {}
        if self._session.rank not in self._holders() or self._any_in_mid_step():
            return
        for rank, nonce in needs.items():
            handover.offer(self._session, self._name_of(rank, nonce), self._encoded(for_training=True))

    def refuse_state(self):
        """In the middle of a step: a checkpoint that wants this rank's state now gets none."""
        if self._session.worker.state_wanted():
            self._session.worker.give_state(b"")

    # The beginning and the end.

    def begin(self, optimizers, computed):
        """Before the first gradient: makes the replicas of `optimizers` equal on all ranks."""
        session = self._session
        mine = [optimizer for optimizer in optimizers if optimizer in self._optimizers]
        if not mine:
            return
        if not session.resumes:
            replicas.check_equal(session, mine)
        elif session.state.restores("relay"):
            session.state.restore_part("relay")  # the script may have written since
            if session.state.restored_iteration != session.worker.iteration():
                raise FailedPrecondition(
                    f"rank {session.rank} begins in iteration {session.worker.iteration()} and its state is of iteration "
                    f"{session.state.restored_iteration}: the checkpoint is fuzzy, and parameters that are stepped on the ranks "
                    "(apply=\"relay\") need an exact one; use sync=\"bsp\" for all tables of the job")
        else:
            self._join(computed)

    def finish(self):
        """This rank's data has ended: takes part until that of all ranks has, and takes the parameters of the last ones."""
        session = self._session
        while True:
            self.serve()
            self._away = min(self._away + 1, _WORD_MAX)
            self._push({self._waits_at + session.rank: self._away})
            session.advance()
            self.refuse_state()
            self._read()
            if not self._trains and not self._needs:
                break
        holders = self._holders()
        if len(holders) == len(self._waits):
            return
        name = f"relay/final.{session.worker.iteration()}"
        if session.rank in holders:
            handover.offer(session, name, self._encoded(for_training=False))
        else:
            data = handover.fetch(session, name)
            if not data:
                raise Unavailable(f"rank {session.rank} lacks the final parameters (apply=\"relay\"): the ranks that trained last are "
                                  "gone; take them from a checkpoint")
            self._take(data)

    def _join(self, computed):
        """This process came to a job that runs: takes part in one iteration without gradients, and gets the state after it.
        Where it cannot, it ends as a worker that is lost, and the others go on."""
        session = self._session
        if len(session.optimizers) > 1:
            raise Unavailable("this job runs, and steps on the ranks (apply=\"relay\") with several optimizers: another worker cannot "
                              "join it, because nobody knows whose turn it is; resume it from a checkpoint")
        if computed:
            raise Unavailable("this job runs, and its ranks have the parameters (apply=\"relay\"): another worker gets them in its "
                              "first forward pass of a module in training mode, and here a gradient came before that")
        nonce = 1 + secrets.randbelow(_WORD_MAX)
        self._push({self._needs_at + session.rank: nonce})
        session.advance()
        self._read()
        for optimizer in self._optimizers:
            for table in optimizer.tables:
                table.values.mean()  # else the first one that counts may come as the initial values of a table that nobody uses
        if self._any_in_mid_step():
            raise Unavailable("this job runs, and its optimizer computes several gradients in one step (a closure, opt.exchange()): "
                              "another worker cannot join it; resume it from a checkpoint")
        if not self._holders():
            raise FailedPrecondition("no rank of this job has its parameters (apply=\"relay\"): the checkpoint that it goes on from "
                                     "has no states of ranks, or the others are gone; resume from another checkpoint")
        data = handover.fetch(session, self._name_of(session.rank, nonce))
        if not data:
            raise Unavailable("the other ranks cannot hand over the state of their optimizer, which is no plain value; their log "
                              "says which part")
        self._take(data)
        self._joined = True
        notice.say(f"rank {session.rank} has taken the parameters and the optimizer's state of the other ranks, and trains from "
                   f"iteration {session.worker.iteration()}")

    def _name_of(self, rank, nonce):
        """Returns the name of the state for a rank that joins, equal on all ranks between the same two iterations. The nonce tells
        lives apart that begin in the same iteration after a rollback."""
        return f"relay/{rank}.{nonce}.{self._session.worker.iteration()}"

    def _any_in_mid_step(self):
        return any((word - 1) & _MID_STEP for word in self._trains.values())

    def _check_options(self):
        """Raises if this rank steps with other options than the others: the replicas would differ from now on."""
        mine = self._trains[self._session.rank]
        # A rank that joined compares with the others, and they do not compare with it: so a wrong one ends alone.
        others = {rank: word for rank, word in self._trains.items() if self._joined or not (word - 1) & _JOINED}
        first = min(others, key=lambda rank: ((others[rank] - 1) & _JOINED, rank))
        if (mine - 1) // _DIGEST != (others[first] - 1) // _DIGEST:
            kind = Unavailable if self._joined else FailedPrecondition  # the others go on without a rank that joined
            raise kind(
                f"rank {self._session.rank} steps with other options (lr, ...) than rank {first} in iteration "
                f"{self._session.worker.iteration() - 1}, and each rank steps its own copy (apply=\"relay\"): give all ranks the same "
                "options in each iteration. A schedule of a rank that joins begins anew, unless all ranks lw.register_state() it")

    def _holders(self):
        """Returns the ranks that have the newest parameters."""
        if self._trains:
            return set(self._trains)
        least = min(self._waits.values(), default=0)
        return {rank for rank, away in self._waits.items() if away == least}

    # The table.

    def _new_slot(self):
        return Slot(self._session.worker, torch.empty(self._words, dtype=torch.float32))

    def _push(self, words):
        lent = self._lent
        while lent and lent[0][1].released() and self._session.worker.done(lent[0][1].ticket):
            slot, loan = lent.pop(0)
            self._session.worker.wait(loan.ticket)
            self._free.append(slot)
        slot = self._free.pop() if self._free else self._new_slot()
        values = slot.tensor().zero_()
        for place, word in words.items():
            values[place] = word
        values[-1] = 1.0
        loan = self._session.worker.push(self._table, slot.address, self._words, _HYPER, 1)
        lent.append((slot, loan))
        self._taken_part = True

    def _read(self):
        """Waits for the mean of the last iteration, and takes it apart."""
        mean = self._buffers[self._session.worker.sync(self._table)].tensor().double()
        spoken = mean[:self._loss_at].nonzero().flatten().tolist()  # each rank has one word there
        one = mean[-1].item() / len(spoken)                         # what a 1 of one rank has become
        said = ({}, {}, {})
        for place in spoken:
            kind, rank = divmod(place, self._waits_at)
            said[kind][rank] = round(mean[place].item() / one)
        self._trains, self._waits, self._needs = said
        self._losses = tuple((mean[self._loss_at:self._loss_at + 2] / one).tolist())

    # The state.

    def _save(self):
        return {"tables": {table.name: table.parameter.detach() for optimizer in self._optimizers for table in optimizer.tables},
                "optimizers": [optimizer.state_dict() for optimizer in self._optimizers]}

    def _load(self, saved):
        replicas.load(self._optimizers, saved)

    def _encoded(self, for_training):
        """The replicas as bytes; for a rank that trains on with buffers and schedules, and empty if they are no plain values. At the
        end without such a state of the optimizer: parameters alone are needed there."""
        state = {"replicas": self._save()}
        if for_training:
            state.update(buffers=local_state.of(self._session).buffers, schedules=self._session.state.schedules())
        try:
            return plain_state.encode(state)
        except InvalidArgument as error:
            notice.say(f"rank {self._session.rank} cannot hand over its optimizer's state: {error}")
            return b"" if for_training else plain_state.encode({"replicas": {**self._save(), "optimizers": []}})

    def _take(self, data):
        state = plain_state.decode(data)
        replicas.load(self._optimizers, state["replicas"])
        replicas.load_buffers(local_state.of(self._session).buffers, state.get("buffers", {}))
        self._session.state.take_schedules(state.get("schedules", {}))
