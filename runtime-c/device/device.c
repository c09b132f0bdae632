/* The device runtime as one unit, called by offloaded regions and compiled once for all GPUs. */
#include "device.h"

#include "invoke.c"
#include "team.c"
#include "sync.c"
#include "loops.c"
#include "dispatch.c"
#include "reduce.c"
#include "outlined.c"
#include "tasks.c"
#include "api.c"
#include "bare.c"
#include "library.c"
