"""LocalState: the state that leeway.torch adds to checkpoints: torch's random state, buffers, the options of optimizers.

Buffers are the tensors without a table in broadcast_parameters. Options are the present values of the parameter groups, such as
a scheduled learning rate. The optimizer's state proper is on the servers.
"""

import torch

from leeway.errors import InvalidArgument
from leeway.rank_state import copy_tensors


class LocalState:
    """The state of one session; see of()."""

    def __init__(self, session):
        self._session = session
        self.buffers = {}  # name -> tensor
        self._modes = {}       # name -> buffers= of the broadcast, for whoever reads the checkpoint
        self._shared = []      # SharedBuffers of each broadcast
        self._broadcasts = 0
        self.other_names = {}  # of tied parameters: a second name -> the table's name
        session.state.add_own("torch", self.save, self.load)

    def add_buffers(self, prefix, tensors, shared):
        """Adds the buffers of one broadcast. A name of another model's buffer gets the number of the broadcast before it."""
        self._broadcasts += 1
        if any(prefix + name in self.buffers and self.buffers[prefix + name].data_ptr() != tensor.data_ptr()
               for name, tensor in tensors.items()):
            prefix = f"broadcast{self._broadcasts}.{prefix}"
        self.buffers.update((prefix + name, tensor) for name, tensor in tensors.items())
        self._modes.update((prefix + name, shared.mode) for name in tensors)
        self._shared.append(shared)

    def give_buffers(self):
        """This rank is about to leave the job."""
        for shared in self._shared:
            shared.give()

    def take_buffers(self):
        """The last member has left."""
        for shared in self._shared:
            shared.take()

    def save(self):
        return {"random": torch.get_rng_state(),
                "buffers": self.buffers,
                "buffer_modes": self._modes,
                "other_names": self.other_names,
                "groups": [[_options(group) for group in optimizer.param_groups] for optimizer in self._session.optimizers]}

    def load(self, saved):
        torch.set_rng_state(saved["random"])
        with torch.no_grad():
            copy_tensors(saved["buffers"], self.buffers, "buffers")
        for index, (optimizer, groups) in enumerate(zip(self._session.optimizers, saved["groups"])):
            # A group that the script adds later gets its options then: add_param_group() loads them.
            if len(groups) < len(optimizer.param_groups):
                raise InvalidArgument(f"the checkpoint's optimizer {index}: got {len(groups)} parameter groups, wanted "
                                      f"{len(optimizer.param_groups)}")
            for group, options in zip(optimizer.param_groups, groups):
                group.update(options)


def of(session):
    """Returns the session's LocalState; the first call makes it."""
    if session.torch_state is None:
        session.torch_state = LocalState(session)
    return session.torch_state


def _options(group):
    return {name: value for name, value in group.items() if name != "params"}
