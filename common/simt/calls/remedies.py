"""What to write in device code instead of a function of the host."""

_FOR_STANDARD = {
    "std::swap": "swap through a temporary variable",
    "std::exchange": "keep the old value in a variable",
    "std::min": "write min(), which CUDA has for the device",
    "std::max": "write max(), which CUDA has for the device",
    "std::clamp": "write min(max(value, low), high)",
    "std::vector": "use an array of a fixed size, __shared__ memory, or memory from cudaMalloc",
    "std::array": "use a plain array",
    "std::pair": "write a struct",
    "std::tuple": "write a struct",
    "std::get": "write a struct with named members",
    "std::sort": "write the sort for the device, or call it in host code",
    "std::numeric_limits": "name the constant in a constexpr variable outside the function, or use the macros of "
    "<climits> and <cfloat>, such as INT_MAX",
    "std::cout": "use printf()",
    "std::cerr": "use printf()",
    "std::clog": "use printf()",
    "std::sqrt": "convert the integer to float or double",
    "rand": "compute random numbers from the thread's index, or copy them from the host",
    "exit": "return from the kernel, and report the error through memory",
}


def remedy_for(name: str, is_own: bool) -> str:
    """`is_own`: the function is the program's."""
    if name == "a lambda of host code":
        return "pass an object whose operator() is __device__, or write [=] __device__ (...) and use --extended-lambda"
    if is_own:
        return "write __device__ before it, or __host__ __device__ if host code calls it, too"
    longest = max((key for key in _FOR_STANDARD if name == key or name.startswith(key + "::")), key=len, default="")
    return _FOR_STANDARD.get(longest, "write a __device__ function for this, or call it in host code")
