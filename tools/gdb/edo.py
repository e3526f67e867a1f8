"""
edo in gdb: the tasks of a program, and the backtraces of its fibers. Works on a live process and on a core file;
needs the library's debug information.

    (gdb) source tools/gdb/edo.py
    (gdb) edo tasks             every task of every runtime, numbered
    (gdb) edo fiber 3 bt        the backtrace of task 3, a fiber
    (gdb) edo fiber 3           goes to it: bt, up, down, info locals show it (frame 0 is still the thread's)
    (gdb) edo thread            back to the thread's own frames
"""
import gdb
from gdb.unwinder import Unwinder, register_unwinder

DEEPEST = 4


class Trouble(gdb.GdbError):
    """What a person is told instead of a Python traceback."""


def evaluate(text):
    try:
        return gdb.parse_and_eval(text)
    except gdb.error as error:
        raise Trouble(f'edo: {error}; is the library built with debug information?') from error


def type_of(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error as error:
        raise Trouble(f'edo: no {name}: the library has no debug information') from error


def container_of(pointer, name, member):
    """The struct `name` whose member is at `pointer`."""
    whole = type_of(name)
    offset = sum(field.bitpos // 8 for field in whole.fields() if field.name == member)
    return gdb.Value(int(pointer) - offset).cast(whole.pointer()).dereference()


def flag(name):
    return int(evaluate(name))


# ---- what there is ----

def runtimes():
    driver = evaluate("'registry.c'::first")
    while int(driver):
        yield container_of(driver, 'struct edo_runtime', 'driver')
        driver = driver['registry_next']


def tasks_of(runtime):
    first = runtime['scheduler']['scheduler']['owned']['first']
    task = first
    while int(task):
        yield task.dereference()
        task = task['owned_next']
        if int(task) == int(first):
            return


def all_tasks():
    return [task for runtime in runtimes() for task in tasks_of(runtime)]


def core_of(task):
    address = int(task.address) + type_of('struct edo_task').sizeof
    return gdb.Value(address).cast(type_of('edo_future').pointer()).dereference()


def is_fiber(task):
    return bool(int(core_of(task)['ops']['flags']) & flag('EDO_FUTURE_RUNS_TO_END'))


def fiber_of(task):
    if not is_fiber(task):
        raise Trouble('edo: that task is no fiber: it has no stack')
    return container_of(core_of(task).address, 'struct edo_fiber', 'future')


def standing(task):
    state = int(task['state'])
    if state & flag('EDO_STATE_RUNNING'):
        return 'running'
    return 'ready' if state & flag('EDO_STATE_NOTIFIED') else 'waiting'


def name_of(future):
    name = future['ops']['name']
    return name.string() if int(name) else 'a future'


def inner_of(future):
    """What a time-out or a stackless task waits for. Nothing of the program is called: it may be a core file."""
    awaits = int(future['ops']['awaits'])
    if not awaits:
        return None
    function = gdb.block_for_pc(awaits)
    kind = function.function.name if function and function.function else ''
    if kind == 'edo_async_awaits':
        pointer = container_of(future.address, 'edo_async', 'future')['edo_awaiting_']
    elif kind == 'timeout_awaits':
        pointer = container_of(future.address, 'edo_timeout_future', 'future')['edo_inner_']
    else:
        return None
    return pointer.dereference() if int(pointer) else None


def describe(future, depth=0):
    inner = inner_of(future) if depth < DEEPEST else None
    text = name_of(future)
    return f'{text} of ({describe(inner, depth + 1)})' if inner is not None else text


def awaited_by(task):
    if standing(task) == 'running':
        return ''
    if is_fiber(task):
        awaiting = fiber_of(task)['awaiting']
        return f' for {describe(awaiting.dereference())}' if int(awaiting) else ''
    inner = inner_of(core_of(task))
    return f' for {describe(inner)}' if inner is not None else ''


def line_of(task):
    text = f'{name_of(core_of(task))}: {standing(task)}{awaited_by(task)}'
    if int(task['state']) & flag('EDO_STATE_CANCELLED'):
        text += ', cancelled'
    if is_fiber(task):
        text += f", runs {str(fiber_of(task)['fn']).split('<')[-1].rstrip('>')}"
    return text


# ---- where a suspended fiber goes on ----

def words(address, count):
    pointer = gdb.Value(address).cast(type_of('unsigned long').pointer())
    return [pointer[i] for i in range(count)]


def registers_x86_64(sp):
    r15, r14, r13, r12, rbx, rbp, rip = words(sp, 7)
    return {'r15': r15, 'r14': r14, 'r13': r13, 'r12': r12, 'rbx': rbx, 'rbp': rbp, 'rip': rip,
            'rsp': gdb.Value(sp + 56)}


def registers_aarch64(sp):
    saved = words(sp, 12)
    registers = {f'x{19 + i}': saved[i] for i in range(11)}
    registers.update({'pc': saved[11], 'x30': saved[11], 'sp': gdb.Value(sp + 160)})
    return registers


def architecture():
    name = gdb.selected_inferior().architecture().name()
    return ('rsp', 'rip', registers_x86_64) if 'x86-64' in name else \
        ('sp', 'pc', registers_aarch64)


class FiberUnwinder(Unwinder):
    """Below the innermost frame of the thread it shows the fiber that was chosen."""

    def __init__(self):
        super().__init__('edo fiber')
        self.at = None
        self.registers = {}

    def show(self, fiber):
        sp, pc, registers_at = architecture()
        self.at = None
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        here = (int(frame.read_register(sp)), int(frame.read_register(pc)))
        self.registers = registers_at(int(fiber['sp']))
        self.at = here
        gdb.invalidate_cached_frames()

    def show_thread(self):
        self.at = None
        gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if self.at is None:
            return None
        sp, pc, _ = architecture()
        here = (int(pending.read_register(sp)), int(pending.read_register(pc)))
        if here != self.at:
            return None
        info = pending.create_unwind_info(FrameId(*here))
        for name, value in self.registers.items():
            info.add_saved_register(name, value)
        return info


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


UNWINDER = FiberUnwinder()
register_unwinder(None, UNWINDER, replace=True)


# ---- commands ----

class Edo(gdb.Command):
    """edo tasks | edo fiber N [bt] | edo thread: the tasks and fibers of a program that uses edo."""

    def __init__(self):
        super().__init__('edo', gdb.COMMAND_STACK)

    def complete(self, text, word):
        return [name for name in ('tasks', 'fiber', 'thread') if name.startswith(word)]

    def invoke(self, argument, from_tty):
        said = gdb.string_to_argv(argument)
        if said == ['tasks']:
            print_tasks()
        elif said[:1] == ['fiber'] and len(said) in (2, 3) and said[2:] in ([], ['bt']):
            go_to_fiber(said[1], bool(said[2:]))
        elif said == ['thread']:
            UNWINDER.show_thread()
        else:
            raise Trouble(self.__doc__)


def print_tasks():
    number = 0
    for runtime in runtimes():
        tasks = list(tasks_of(runtime))
        print(f'runtime "{runtime["thread_name"].string()}" at {runtime.address}: '
              f'{len(tasks)} tasks')
        for task in tasks:
            print(f'{number:>5}  {task.address}  {line_of(task)}')
            number += 1
    if number == 0:
        print('no tasks')


def chosen(text):
    tasks = all_tasks()
    number = int(text) if text.isdigit() else -1
    if not 0 <= number < len(tasks):
        raise Trouble(f'edo: no task {text}: there are {len(tasks)}, see edo tasks')
    return tasks[number]


def go_to_fiber(text, only_backtrace):
    task = chosen(text)
    fiber = fiber_of(task)
    if standing(task) == 'running':
        raise Trouble('edo: that fiber is running: its frames are a thread\'s, see info threads')
    UNWINDER.show(fiber)
    if only_backtrace:
        print_backtrace(gdb.newest_frame().older())
        UNWINDER.show_thread()


def print_backtrace(frame):
    number = 0
    if frame.older() is None:
        print('it has not begun')
        return
    while frame is not None and frame.is_valid():
        place = frame.find_sal()
        where = f' at {place.symtab.filename}:{place.line}' if place.symtab else ''
        print(f'#{number:<3} {frame.name() or hex(frame.pc())}{where}')
        frame = frame.older()
        number += 1


Edo()
