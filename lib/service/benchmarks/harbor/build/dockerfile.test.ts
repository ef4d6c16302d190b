// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles write their variables so.
import { describe, expect, it } from 'vitest'
import { customSize, tooMuch } from '../resources.ts'
import { hasSetuidFiles, planBuild } from './plan.ts'

const machine = { hasSystem: true, hasUsers: true }
const plan = (...lines: string[]) => planBuild(['FROM debian', ...lines].join('\n'), machine)

it.each([
  ['RUN chmod 4755 /x', true],
  ['RUN useradd a && chmod -R u+xs,o-w /x', true],
  ['RUN ["chmod", "+s", "/x"]', true],
  ['COPY --chmod=6755 x /x', true],
  ['RUN chmod 2755 /x && chmod 0755 /y && chmod +x /s', false],
  ['COPY --chmod=755 x /x', false],
])('%s makes setuid files: %s', (line, expected) => {
  expect(hasSetuidFiles(plan(line))).toBe(expected)
})

describe('variables in a Dockerfile', () => {
  it.each([
    ['${A}', 'one two'],
    ['${NONE:-${A}}', 'one two'],
    ['${NONE:-${NONE-x}}y', 'xy'],
    ['${EMPTY-x}', ''],
    ['${EMPTY:-x}', 'x'],
    ['${A:+${B:+both}}', 'both'],
    ['${NONE+x}', ''],
    ['\\${A}', '${A}'],
    ["'$A'", '$A'],
    ['$ x'.replace(' x', ''), '$'],
  ])('%s is %s', (text, value) => {
    expect(plan('ENV A="one two" B=b EMPTY=', `ENV V=${text}`).env.V).toBe(value)
  })

  it('are rejected in forms that are not supported', () => {
    for (const text of ['${A#x}', '${A/x/y}', '${A:?needed}', '${A:-x'])
      expect(() => plan(`ENV V=${text}`)).toThrow(`uses a variable in an unsupported way: ${text}`)
  })

  it('keep the words of an ENV without an equals sign together', () => {
    expect(plan('ENV A "one  two" three').env.A).toBe('one  two three')
  })

  it('include platform arguments that are declared', () => {
    expect(plan('ARG TARGETOS', 'ENV OS=$TARGETOS ARCH=$TARGETARCH').env).toMatchObject({ OS: 'linux', ARCH: '' })
  })

  it('are substituted in a COPY in its JSON form', () => {
    expect(plan('ENV F=f', 'COPY ["$F", "a b", "/to/"]').steps).toMatchObject([{ sources: ['f', 'a b'], to: '/to' }])
  })
})

it('finds heredocs at whole words of a RUN', () => {
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
    'RUN <<EOF',
    '#!/usr/bin/env python3',
    'EOF',
  )
  expect(steps.map((step) => step.kind === 'run' && step.argv.at(-1))).toEqual([
    'cat <<one.txt >a && cat <<-"T W"x 2>b\n$A\none.txt\nt\nT Wx',
    'echo $((1<<n)) "$(cat<<x)"',
    "cat <<'EOF' >c\nspaced\nEOF",
    'echo 1 << 2',
    expect.stringMatching(/&& \/usr\/bin\/env python3 "\$f"$/),
  ])
})

it('builds the last stage with those it is based on', () => {
  const { steps, env, image } = plan('ENV A=1', 'FROM node AS base', 'ENV B=2', 'WORKDIR /b', 'FROM base', 'WORKDIR c')
  expect(steps.map((step) => step.kind === 'workdir' && step.path)).toEqual(['/b', '/b/c'])
  expect([env.A, env.B, image]).toEqual([undefined, '2', 'node'])
})

it.each([
  'ENTRYPOINT ["/entry.sh"]',
  'HEALTHCHECK CMD true',
  'ONBUILD RUN true',
  'COPY --from=ghcr.io/astral-sh/uv:0.9 /uv /bin/',
  'ADD https://example.com/a /to',
  'RUN --mount=type=bind,target=/x true',
  'SHELL ["pwsh"]',
])('skips %s with a warning', (line) => {
  expect(plan('RUN --mount=type=cache,target=/c true', line).warnings).toEqual([
    { sentence: expect.stringMatching(/^Dockerfile line 3: skipped: .* is not supported$/), differs: true },
  ])
})

describe('the size of a devbox', () => {
  const needs = { cpus: null, memoryMb: null, storageMb: null }

  it('gets more cores if the memory needs them', () => {
    expect(customSize({ ...needs, cpus: 1, memoryMb: 16_384 })).toMatchObject({
      custom_cpu_cores: 2,
      custom_gb_memory: 16,
    })
  })

  it('is limited, with a warning', () => {
    const wanted = { cpus: 32, memoryMb: 100_000, storageMb: 100_000 }
    expect(customSize(wanted)).toMatchObject({ custom_cpu_cores: 16, custom_gb_memory: 64, custom_disk_size: 64 })
    expect(tooMuch(wanted)).toEqual([
      'cpus 32: a devbox has at most 16',
      'memory_mb 100000: a devbox has at most 65536',
      'storage_mb 100000: a devbox has at most 65536',
    ])
    expect(tooMuch(needs)).toEqual([])
  })
})
