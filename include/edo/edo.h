/**
 * @file
 * edo: an asynchronous runtime for C. This header includes all the others.
 */
#ifndef EDO_EDO_H
#define EDO_EDO_H

#include <edo/async.h>
#include <edo/config.h>
#include <edo/deadline.h>
#include <edo/dump.h>
#include <edo/error.h>
#include <edo/fiber.h>
#include <edo/future.h>
#include <edo/group.h>
#include <edo/io.h>
#include <edo/net.h>
#include <edo/runtime.h>
#include <edo/select.h>
#include <edo/sync.h>
#include <edo/task.h>
#include <edo/time.h>
#include <edo/waker.h>
#include <edo/wheel.h>

#endif
