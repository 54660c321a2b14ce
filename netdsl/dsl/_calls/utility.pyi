"""Signatures of the utility operators as methods of Net; generated, do not edit."""

from collections.abc import Sequence
from typing import Any

from netdsl.dsl.blob import Blob
from netdsl.ir import Device

_Ins = Blob | str | Sequence[Blob | str]
_Outs = Blob | str | int | Sequence[Blob | str]

class UtilityCalls:
    def Alias(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = Alias(input)

        Give a tensor a second name: both share their memory, and writing one writes the other."""

    def CheckTensor(self, inputs: _Ins = ..., outputs: _Outs = ..., *, shape: Sequence[int] = ..., dtype: int | str = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> None:
        """CheckTensor(X)

        Raise unless a blob that the author provides is there, with the shape and dtype expected.

        shape: The shape expected; any by default.

        dtype: The dtype expected; any by default."""

    def Copy(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = Copy(input)

        Copy a tensor; its gradient is copied back."""

    def CopyCPUToGPU(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = CopyCPUToGPU(input)

        Copy a tensor from the host to the device of the workspace; on NumPy they are one."""

    def CopyGPUToCPU(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = CopyGPUToCPU(input)

        Copy a tensor from the device of the workspace to the host; on NumPy they are one."""

    def CopyOnDeviceLike(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = CopyOnDeviceLike(input, like)

        Copy a tensor to where another one is. A workspace has one device, so this is a Copy."""

    def CreateMutex(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """mutex_ptr = CreateMutex()

        Make a mutex, which AtomicIter and other operators that share a blob between nets take."""

    def EnsureCPUOutput(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = EnsureCPUOutput(input)

        Copy a tensor to the host, wherever it is; nothing flows back."""

    def EnsureDense(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = EnsureDense(input)

        Pass a tensor on; a sparse gradient of it becomes a dense one."""

    def NanCheck(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = NanCheck(tensor, others...)

        Pass a tensor on, and stop the net if an element is NaN or infinite. Its gradient is checked too.

        Further inputs are not checked; what they hold is told with the error."""

    def Print(self, inputs: _Ins = ..., outputs: _Outs = ..., *, to_file: bool | int = ..., limit: int = ..., every_n: int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> None:
        """Print(tensor)

        Show a blob: its name, type and elements, in one line on the workspace's output.

        to_file: Refused: give the workspace a file for its output instead.

        limit: How many elements to show; 0 for 1000.

        every_n: Show the blob in the first of every n runs."""

    def Python(self, inputs: _Ins = ..., outputs: _Outs = ..., *, function: str = ..., gradient_function: str = ..., grad_input_indices: Sequence[int] = ..., grad_output_indices: Sequence[int] = ..., token: str = ..., pass_workspace: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """Ys... = Python(Xs...)

        Call a function with the inputs as read-only NumPy arrays; it returns one array for each output.

        ``net.Python([x], "y", function=f, gradient_function=df)`` records both by name, so they must be
        importable, and allows them in this process. A net from a file allows nothing: what it names is neither
        imported nor called unless ``netdsl.python_function(f)`` or ``Workspace(python=["module:name"])`` allows it.
        ``df`` is called with the inputs, the outputs and the outputs' gradients, and returns one gradient for each
        input; None means zeros. Blobs that are no tensors are passed as they are.

        function: The function, as 'module:name'; the builder takes the function itself too.

        gradient_function: The function that computes gradients, likewise; without it there are none.

        grad_input_indices: Positions of the inputs that have gradients; all by default.

        grad_output_indices: Positions of the outputs whose gradients the gradient function gets; all by default.

        token: Caffe2's name of a function in the process that built the net; ``Workspace.functions`` may have one for it.

        pass_workspace: Of Caffe2's; it cannot be run here."""

    def PythonGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, function: str = ..., gradient_function: str = ..., grad_input_indices: Sequence[int] = ..., grad_output_indices: Sequence[int] = ..., token: str = ..., pass_workspace: bool | int = ..., name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Any:
        """dXs... = PythonGradient(Zs...)

        Gradients of :class:`Python`, by its gradient function.

        function: The function, as 'module:name'; the builder takes the function itself too.

        gradient_function: The function that computes gradients, likewise; without it there are none.

        grad_input_indices: Positions of the inputs that have gradients; all by default.

        grad_output_indices: Positions of the outputs whose gradients the gradient function gets; all by default.

        token: Caffe2's name of a function in the process that built the net; ``Workspace.functions`` may have one for it.

        pass_workspace: As in Python."""

    def StopGradient(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """output = StopGradient(input)

        Pass a tensor on; no gradient flows back through it."""

    def ZerosLike(self, inputs: _Ins = ..., outputs: _Outs = ..., *, name: str = ..., engine: str = ..., device: Device | str | None = ..., control_inputs: _Ins = ...) -> Blob:
        """Y = ZerosLike(X)

        Zeros of the shape and dtype of X: the gradient of an output that the loss does not depend on.

        Caffe2 leaves such a gradient out, or fills float32 whatever the dtype."""
