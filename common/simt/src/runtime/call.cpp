#include "call.h"

constinit thread_local simt::HostThread simt::host_thread;
