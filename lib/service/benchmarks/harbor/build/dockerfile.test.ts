// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles write their variables so.
import { describe, expect, it } from 'vitest'
import { customSize, moreMemory, tooMuch } from '../resources.ts'
import { type BuildStep, givesRights, planBuild } from './plan.ts'

const machine = { hasSystem: true, hasUsers: true }
const plan = (...lines: string[]) => planBuild(['FROM debian', ...lines].join('\n'), machine)
const scripts = (steps: readonly BuildStep[]) =>
  steps.flatMap((step) => (step.kind === 'run' ? [step.argv.at(-1)] : step.kind === 'write' ? [step.content] : []))

it.each([
  ['RUN chmod 4755 /x', true],
  ['RUN useradd a && chmod -R u+xs,o-w /x', true],
  ['RUN ["chmod", "+s", "/x"]', true],
  ['COPY --chmod=6755 x /x', true],
  ['RUN chmod 2755 /x && chmod 0755 /y && chmod +x /s', false],
  ['COPY --chmod=755 x /x', false],
])('%s makes programs that run with the rights of their owner: %s', (line, isSo) => {
  expect(givesRights(plan(line))).toBe(isSo)
})

describe('a variable in a Dockerfile', () => {
  it.each([
    ['${A}', 'one two'],
    ['${NONE:-${A}}', 'one two'],
    ['${NONE:-${NONE-x}}y', 'xy'],
    ['${EMPTY-x}', ''],
    ['${EMPTY:-x}', 'x'],
    ['${A:+${B:+both}}', 'both'],
    ['${NONE+x}', ''],
    ['"${A#one }"', 'two'],
    ['${B#*.}', 'b.c'],
    ['${B##*.}', 'c'],
    ['${B%.*}', 'a.b'],
    ['${B%%.*}', 'a'],
    ['${B/./-}', 'a-b.c'],
    ['${B//./-}', 'a-b-c'],
    ['\\${A}', '${A}'],
    ["'$A'", '$A'],
    ['$ x'.replace(' x', ''), '$'],
  ])('%s is %s', (text, value) => {
    expect(plan('ENV A="one two" B=a.b.c EMPTY=', `ENV V=${text}`).env.V).toBe(value)
  })

  it('keeps the words of an ENV without a sign together, and loses its quotes', () => {
    expect(plan('ENV A "one  two" three').env.A).toBe('one  two three')
  })

  it('is known of the platform where it is declared', () => {
    expect(plan('ARG TARGETOS', 'ENV OS=$TARGETOS ARCH=$TARGETARCH').env).toMatchObject({ OS: 'linux', ARCH: '' })
  })

  it('is refused where it is needed and not there, or does not end', () => {
    expect(() => plan('ENV A=${NONE:?a name}')).toThrow('The Dockerfile needs NONE: a name')
    expect(() => plan('ENV A=${NONE:-x')).toThrow('does not end')
  })

  it('is put into the names of a COPY in its JSON form', () => {
    expect(plan('ENV F=f', 'COPY ["$F", "a b", "/to/"]').steps).toMatchObject([{ sources: ['f', 'a b'], to: '/to' }])
  })
})

describe('a heredoc', () => {
  it('begins at a whole word, whatever its name', () => {
    const { steps } = plan(
      'RUN cat <<one.txt >a && cat <<-"T W"x 2>b',
      '$A',
      'one.txt',
      '\tt',
      '\tT Wx',
      'RUN echo $((1<<n)) "$(cat<<x)"',
      "RUN cat << 'EOF' >c",
      'spaced',
      'EOF',
      'RUN echo 1 << 2',
    )
    expect(scripts(steps)).toEqual([
      'cat <<one.txt >a && cat <<-"T W"x 2>b\n$A\none.txt\nt\nT Wx',
      'echo $((1<<n)) "$(cat<<x)"',
      "cat <<'EOF' >c\nspaced\nEOF",
      'echo 1 << 2',
    ])
  })

  it('of a COPY has its variables and backslashes taken, unless its name has quotes', () => {
    const { steps } = plan('ENV A=1', 'COPY <<a <<"b" /to/', '"$A" ${B:-2} \\$A it\'s', 'a', '"$A" \\$A', 'b')
    expect(scripts(steps)).toEqual(['"1" 2 $A it\'s\n', '"$A" \\$A\n'])
  })
})

describe('a mount of a RUN', () => {
  it('is of the context, of a stage, or empty', () => {
    const { stages, steps } = plan(
      'FROM debian AS b',
      'WORKDIR /w',
      'RUN --mount=type=bind,source=a,target=in --mount=from=0,src=/x,dst=/y --mount=type=cache,target=/c true',
    )
    expect(stages).toHaveLength(1)
    expect(steps.at(-1)).toMatchObject({
      mounts: [
        { target: '/w/in', source: { from: null, path: 'a' } },
        { target: '/y', source: { from: 0, path: '/x' } },
        { target: '/c', source: null },
      ],
    })
  })

  it('of an image that is no stage is told, and a secret is as absent as in Harbor', () => {
    const { warnings, steps } = plan(
      'RUN --mount=from=ghcr.io/a/uv,source=/uv,target=/bin/uv --mount=type=secret,id=s true',
    )
    expect(warnings).toEqual([
      { sentence: 'Dockerfile line 2: skipped: RUN --mount from ghcr.io/a/uv: no other image is here', differs: true },
    ])
    expect(steps).toMatchObject([{ mounts: [] }])
  })
})

describe('the size of a devbox', () => {
  const needs = { cpus: null, memoryMb: null, storageMb: null }

  it('has more cores where the memory asked for needs them', () => {
    expect(customSize({ ...needs, cpus: 1, memoryMb: 16_384 })).toMatchObject({
      custom_cpu_cores: 2,
      custom_gb_memory: 16,
    })
  })

  it('is bounded, and what is more than that is told', () => {
    const wanted = { cpus: 32, memoryMb: 100_000, storageMb: 100_000 }
    expect(customSize(wanted)).toMatchObject({ custom_cpu_cores: 16, custom_gb_memory: 64, custom_disk_size: 64 })
    expect(tooMuch(wanted)).toEqual([
      'cpus 32: a devbox has at most 16',
      'memory_mb 100000: a devbox has at most 65536',
      'storage_mb 100000: a devbox has at most 65536',
    ])
    expect(tooMuch(needs)).toEqual([])
  })

  it('has more memory where no size is as small, which is told', () => {
    expect(moreMemory({ ...needs, memoryMb: 512 })).toEqual(['memory_mb 512: the devbox has 2048'])
    expect(moreMemory({ ...needs, cpus: 4, memoryMb: 2048 })).toEqual(['memory_mb 2048: the devbox has 8192'])
    expect(moreMemory({ ...needs, cpus: 1, memoryMb: 4096 })).toEqual([])
    expect(moreMemory(needs)).toEqual([])
  })
})
