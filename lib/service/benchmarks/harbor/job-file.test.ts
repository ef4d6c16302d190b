import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maxYamlBytes } from '#lib/contract/benchmark-jobs.ts'
import { writeTask } from '#lib/service/testing/trials.ts'
import { NamedAgents } from '../agents/named-agents.ts'
import type { HarborScenario } from '../plan.ts'
import { readJobFile } from './job-file.ts'
import { readTasks } from './job-tasks.ts'

const test = { 'tests/test.sh': 'true\n' }
let root: string
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-datasets-')))
  for (const name of ['alpha', 'beta', 'gamma']) writeTask(join(root, 'set', name), test)
  mkdirSync(join(root, 'set', 'notes'))
  writeTask(join(root, 'single'), { ...test, 'task.toml': 'schema_version = "1.4"\n[task]\nname = "org/single"\n' })
  writeTask(join(root, 'bad', 'untested'), {})
  writeTask(join(root, 'bad', 'unparsed'), { ...test, 'task.toml': 'version = "1.0"\n[agent\ntimeout_sec = 1\n' })
  writeTask(join(root, 'bad', 'mistaken'), { ...test, 'task.toml': '[verifier]\n\n[environment]\ncpus = "two"\n' })
  writeTask(join(root, 'bad', 'composed'), { ...test, 'environment/docker-compose.yaml': 'services: {}\n' })
  writeTask(join(root, 'outside', 'task'), test)
  mkdirSync(join(root, 'allowed'))
  symlinkSync(join(root, 'outside'), join(root, 'allowed', 'link'))
})
afterAll(() => rmSync(root, { recursive: true }))

const namedAgents = new NamedAgents({ folder: '/nonexistent', commands: { mine: 'true' } })
const read = (yaml: string, more: Partial<Parameters<typeof readJobFile>[1]> = {}) =>
  readJobFile(yaml, { datasetRoots: [root], hasSecret: (name) => name === 'KEY', namedAgents, ...more })
const planOf = async (yaml: string, account = 'a') => {
  const { job, problems } = await read(yaml)
  if (!job) throw new Error(JSON.stringify(problems))
  const { plan, harbor, ...rest } = job
  const scenarios: HarborScenario[] = []
  for await (const part of readTasks(account, harbor.unread, { forceBuild: false, hasImages: false }))
    scenarios.push(...part.map(({ scenario }) => scenario))
  return { ...plan, ...harbor, ...rest, scenarios }
}
/** As `line:column path message`. */
const problemsOf = async (yaml: string, more?: Parameters<typeof read>[1]) =>
  ((await read(yaml, more)).problems ?? []).map(
    ({ line, column, path, message }) => `${line}:${column} ${path} ${message}`,
  )

describe('a job file', () => {
  it('is rejected for tags and numbers that Harbor rejects', async () => {
    expect(await problemsOf('job_name: !!python/name:os.system x\ntasks:\n- path: single\n')).toEqual([
      expect.stringMatching(/^1:11 .*python\/name/),
    ])
    expect(await problemsOf('n_attempts: 100001\ntasks:\n- path: single\n')).toEqual([
      '1:1 n_attempts n_attempts must be at most 100000',
    ])
  })

  it('becomes a plan with the defaults of Harbor', async () => {
    const plan = await planOf('datasets:\n- path: set\ntasks:\n- path: single\n')
    expect(plan.scenarios.map(({ name, source }) => [name, source])).toEqual([
      ['alpha', 'set'],
      ['beta', 'set'],
      ['gamma', 'set'],
      ['org/single', null],
    ])
    expect(plan.agents.map(({ name }) => name)).toEqual(['oracle'])
    expect(plan).toMatchObject({ attempts: 1, concurrentTrials: 4, quiet: false, name: null, warnings: [] })
    expect(plan.retry).toMatchObject({ maxRetries: 0, include: null, minWaitSeconds: 1, maxWaitSeconds: 60 })
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
  })

  it('accepts the deprecated orchestrator', async () => {
    const old = 'orchestrator:\n  type: local\n  n_concurrent_trials: 7\n  quiet: yes\n  retry: {max_retries: 2}\n'
    const plan = await planOf(`${old}quiet: false\ntasks:\n- path: single\n`)
    expect(plan).toMatchObject({ concurrentTrials: 7, quiet: false, retry: { maxRetries: 2 } })
    expect(plan.warnings).toEqual([expect.stringMatching(/^orchestrator is deprecated/)])
  })

  it('filters datasets by globs, then by n_tasks', async () => {
    const names = async (more: string) => (await planOf(`datasets:\n- path: set\n${more}`)).scenarios.map((s) => s.name)
    expect(await names("  task_names: ['*a']\n  exclude_task_names: ['[!ab]*']\n")).toEqual(['alpha', 'beta'])
    expect(await names('  exclude_task_names: [alpha]\n  n_tasks: 1\n')).toEqual(['beta'])
    expect(await names('  task_names: ["g?mma"]\n')).toEqual(['gamma'])
  })

  it('derives scenario ids from account, dataset, name and content', async () => {
    const idOf = async (account: string) => (await planOf('tasks:\n- path: single\n', account)).scenarios[0]?.id
    const id = await idOf('a')
    expect(await idOf('a')).toBe(id)
    expect(await idOf('b')).not.toBe(id)
    writeFileSync(join(root, 'single', 'instruction.md'), 'Do something else.\n')
    expect(await idOf('a')).not.toBe(id)
  })

  it('resolves templates from secrets or their fallback', async () => {
    const plan = await planOf(
      `tasks:\n- path: single\nagents:\n- name: oracle\n  env: {A: "\${KEY}", B: "\${NO:-b}", C: "x\${KEY}"}\n`,
    )
    expect(plan.agents[0]?.env).toEqual({ variables: { B: 'b', C: `x\${KEY}` }, secrets: { A: 'KEY' } })
  })

  it('accepts deprecated lists of KEY=VALUE', async () => {
    const { settings, agents, warnings } = await planOf(`environment:
  env:
    - GREETING=hello
    - MODE=slow
    - MODE=fast
    - "URL=http://x/?a=b&c="
    - EMPTY=
    - "LINES=one\\ntwo"
verifier: {env: ["A=\${KEY}"]}
agents: [{name: nop, env: ["B=\${NO:-b=c}"]}, {name: oracle, env: []}]
tasks: [{path: single}]
`)
    expect(settings.environment.env.variables).toEqual({
      GREETING: 'hello',
      MODE: 'fast',
      URL: 'http://x/?a=b&c=',
      EMPTY: '',
      LINES: 'one\ntwo',
    })
    expect(settings.verifier.env.secrets).toEqual({ A: 'KEY' })
    expect(agents.map(({ env }) => env.variables)).toEqual([{ B: 'b=c' }, {}])
    expect(warnings).toEqual(
      ['agents[0].env', 'agents[1].env', 'verifier.env', 'environment.env'].map(
        (path) => `${path}: a list of KEY=VALUE is deprecated; use a mapping`,
      ),
    )
  })

  it('warns of unknown and unused keys', async () => {
    const { warnings } = await planOf(
      'n_atempts: 3\nplugins: [x]\nenvironment: {type: daytona, override_memory: 1}\nverifier: {timeout_sec: 9}\ntasks:\n- path: single\n- path: ./single\n  tag: x\n',
    )
    expect(warnings).toEqual([
      'n_atempts is not a job file key and is ignored',
      'environment.override_memory is not a job file key and is ignored',
      'verifier.timeout_sec is not a job file key and is ignored',
      'tasks[1].tag is not a job file key and is ignored',
      'environment.type daytona: tasks run in devboxes instead',
      'plugins are not loaded',
      'Duplicate tasks run once',
    ])
  })

  it('creates a scenario with the reason for each invalid task', async () => {
    const { scenarios } = await planOf('datasets:\n- path: bad\n- path: set\n  n_tasks: 1\n')
    expect(scenarios.map(({ name, warnings }) => [name, ...warnings])).toEqual([
      ['composed', 'cannot be run: environment needs Docker Compose, and with it a container engine (--engine)'],
      ['mistaken', 'cannot be run: task.toml line 4, column 1: environment.cpus must be a number'],
      ['unparsed', expect.stringMatching(/^cannot be run: task\.toml line 2, column \d+: is not valid TOML: /)],
      ['untested', 'cannot be run: tests/test.sh is missing: a task needs it for its score'],
      ['alpha'],
    ])
  })
})

describe('the problems of a job file', () => {
  it('are reported together with line, column and key', async () => {
    const yaml = `n_concurrent_trials: 3
agents:
  - name: claude-code
  - import_path: my.agent:Agent
  - name: command
    kwargs: {command: ""}
  - name: frobnicate
    env:
      TOKEN: \${NOT_THERE}
  - model_name: m
datasets:
  - path: /etc
  - name: terminal-bench
    version: "2.0"
  - path: set
    task_names: ["z*"]
  - path: bad
  - repo: https://example.com/x.git
    path: x
verifier: {disable: true}
`
    expect(await problemsOf(yaml)).toEqual([
      '3:5 agents[0] agent claude-code needs ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN: create a secret ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or map a secret to one of them',
      expect.stringMatching(/^4:5 agents\[1\]\.import_path Python agents .* agents\/NAME\/agent\.toml/),
      '6:14 agents[2].kwargs.command Agent command needs a command in kwargs.command',
      expect.stringMatching(
        /^7:5 agents\[3\]\.name there is no agent "frobnicate"; .*claude-code, codex, gemini-cli, goose, mine, opencode; .*agents\/frobnicate\/agent\.toml/,
      ),
      '12:5 datasets[0].path /etc is not a folder below those given with --datasets',
      '13:5 datasets[1].name terminal-bench is in a registry, which is not supported; use a local folder (path)',
      '16:5 datasets[2].task_names task_names matches no task of set; its tasks include alpha, beta, gamma',
      '18:5 datasets[4].repo repo: datasets cannot be fetched from a git repository; use a local folder (path)',
      '20:12 verifier.disable The verifier cannot be disabled: a job needs scores',
    ])
  })

  it('are those of the schema first, with unknown keys', async () => {
    expect(
      await problemsOf('n_concurrent_trials: 0\nagents:\n- model_name: 3\n  model: m\ndatasets: [{path: /etc}]\n'),
    ).toEqual([
      '1:1 n_concurrent_trials n_concurrent_trials must be at least 1',
      '3:3 agents[0].model_name model_name must be a string',
      '4:3 agents[0].model model is not a job file key',
    ])
  })

  it('include list entries that are not KEY=VALUE', async () => {
    const yaml =
      'environment:\n  env:\n  - A=1\n  - B\n  - =x\n  - C: 1\n  - 1\nverifier:\n  env: [2D=x]\ntasks:\n- path: single\n'
    expect(await problemsOf(yaml)).toEqual([
      '4:5 environment.env[1] 1 must be KEY=VALUE',
      '5:5 environment.env[2] 2 must be KEY=VALUE',
      '6:5 environment.env[3] 3 must be KEY=VALUE',
      '7:5 environment.env[4] 4 must be KEY=VALUE',
    ])
    expect(await problemsOf('verifier:\n  env: [2D=x]\ntasks:\n- path: single\n')).toEqual([
      '2:3 verifier.env.2D "2D" is not a variable name',
    ])
  })

  it('include missing secrets', async () => {
    expect(await problemsOf(`agents:\n- env: {A: "\${NO}", 1B: x}\ntasks:\n- path: single\n`)).toEqual([
      `2:9 agents[0].env.A A is \${NO}, but the account has no secret NO`,
      '2:21 agents[0].env.1B "1B" is not a variable name',
    ])
  })

  it('are those of invalid YAML', async () => {
    expect(await problemsOf('agents:\n  - name: "oracle\n')).toEqual([
      expect.stringMatching(/^\d:\d+ {2}Invalid YAML: Missing closing "quote/),
    ])
    expect(await problemsOf('a: 1\nb: 2\na: 3\n')).toEqual(['3:1  Invalid YAML: duplicate key a'])
    for (const yaml of ['', '- a', 'text', '5'])
      expect(await problemsOf(yaml)).toEqual([
        '1:1  The job file must be a mapping with keys such as agents and datasets',
      ])
  })

  it('include missing scenarios', async () => {
    const none = '1:1  The job has no scenarios: add a dataset or task'
    expect(await problemsOf('agents: [{name: nop}]\n')).toEqual([none])
    expect(await problemsOf('datasets: []\ntasks: []\n')).toEqual([none])
    expect(await problemsOf('agents: [{name: nop}]\ndataset: [{path: set}]\n')).toEqual([
      none,
      '2:1 dataset dataset is not a job file key',
    ])
    expect(await problemsOf('datasets: 3\n')).toEqual(['1:1 datasets datasets must be a list of mappings'])
    expect(await problemsOf('agents: []\ntasks: [{path: single}]\n')).toEqual([
      '1:1 agents agents is empty: name at least one agent',
    ])
  })

  it.each([
    ['a link out of the allowed folders', 'link'],
    ['a path out of them', '../outside'],
    ['an absolute path elsewhere', '/'],
    ['nothing', 'nowhere'],
    ['a NUL', '"\\0"'],
  ])('are the same for %s', async (_, path) => {
    const [problem] = await problemsOf(`datasets:\n- path: ${path}\n`, { datasetRoots: [join(root, 'allowed')] })
    expect(problem).toMatch(/^2:3 datasets\[0\]\.path .* is not a folder below those given with --datasets/)
  })

  it('include a missing --datasets', async () => {
    expect(await problemsOf('datasets:\n- path: set\n', { datasetRoots: [] })).toEqual([
      '2:3 datasets[0].path The service was started without --datasets, so it can use no folders',
    ])
  })
})

describe('a hostile job file', () => {
  const next = (i: number) => `a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`
  const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x]', ...[1, 2, 3, 4, 5, 6, 7].map(next)].join('\n')
  const many = (length: number, line: (i: number) => string) => Array.from({ length }, (_, i) => line(i)).join('\n')
  const rows: Record<string, [string, RegExp]> = {
    'that is too long': ['x'.repeat(maxYamlBytes + 1), /bytes; the limit is/],
    'of aliases that stand for millions': [bomb, /Excessive alias count/],
    'of an alias of itself': ['a: &a [*a]\n', /no scenarios/],
    'of brackets': ['['.repeat(500_000), /nested deeper/],
    'of dashes': ['- '.repeat(200_000), /nested deeper/],
    'of indentation': [many(500, (i) => `${' '.repeat(i)}a:`), /nested deeper/],
    'of keys': [many(50_000, (i) => `k${i}: 1`), /more than 20000 lines/],
    'of items': [`[${'a,'.repeat(200_000)}]`, /more than 20000 lines/],
    'of anchors': ['&a '.repeat(100_000), /more than 1000 anchors/],
    'of aliases': [many(5000, (i) => `- &a${i} x\n- *a${i}`), /more than 100 aliases/],
    'of stars': [`datasets:\n- path: set\n  task_names: ["${'*a'.repeat(50_000)}b"]\n`, /matches no task/],
  }
  for (const [name, [yaml, message]] of Object.entries(rows))
    it(`${name} is refused at once`, async () => {
      // Without the limits this takes minutes.
      expect(message.test((await problemsOf(yaml)).join('\n'))).toBe(true)
    })

  it('of many large merges is rejected', async () => {
    const base = `base: &b {${many(9000, (i) => `k${i}: 1,`)}}\n`
    expect((await problemsOf(base + many(90, (i) => `m${i}: {<<: *b}`))).join()).toContain('too many for its merges')
  })

  it.each<[string, (count: number) => string]>([
    ['keys that are none', (count) => many(count, (i) => `k${i}: 1`)],
    ['names that are none', (count) => `agents:\n- env:\n${many(count, (i) => `    ${i}-: v`)}`],
    ['items of the wrong form', (count) => `agents: [${Array.from({ length: count }, () => 1).join()}]`],
  ])('of %s has at most 100 problems', async (_, file) => {
    expect(await problemsOf(file(16_000))).toHaveLength(100)
  })
})
