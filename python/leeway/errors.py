"""Leeway's exceptions: one class per status code of the core, all of them LeewayError.

`code` is the core's name of the error ("invalid_argument", ...). `retryable` says whether the same call, or the whole process
started again, may succeed another time. `exit_code` is the exit code of a process that ends with the error.
"""


class LeewayError(Exception):
    """Any error of Leeway."""

    code = "internal"
    retryable = False
    exit_code = 70

    def __init__(self, message):
        super().__init__(message)
        self.message = message


class InvalidArgument(LeewayError, ValueError):
    code, exit_code = "invalid_argument", 2


class NotFound(LeewayError, LookupError):
    code, exit_code = "not_found", 3


class AlreadyExists(LeewayError):
    code, exit_code = "already_exists", 4


class FailedPrecondition(LeewayError, RuntimeError):
    code, exit_code = "failed_precondition", 5


class ResourceExhausted(LeewayError):
    code, exit_code = "resource_exhausted", 6


class ProtocolError(LeewayError):
    code, exit_code = "protocol", 7


class InternalError(LeewayError):
    code, exit_code = "internal", 70


class Unavailable(LeewayError, ConnectionError):
    code, retryable, exit_code = "unavailable", True, 128


class DeadlineExceeded(LeewayError, TimeoutError):
    code, retryable, exit_code = "deadline_exceeded", True, 129


class Fenced(LeewayError):
    code, retryable, exit_code = "fenced", True, 131


class Cancelled(LeewayError):
    code, retryable, exit_code = "cancelled", True, 143


_BY_EXIT_CODE = {
    error.exit_code: error
    for error in (InvalidArgument, NotFound, AlreadyExists, FailedPrecondition, ResourceExhausted, ProtocolError,
                  InternalError, Unavailable, DeadlineExceeded, Fenced, Cancelled)
}


def from_status(code_name, message, exit_code):
    """Returns the exception for a status of the core. The binding calls it."""
    error = _BY_EXIT_CODE.get(exit_code)
    return error(message) if error else LeewayError(f"{code_name}: {message}")
