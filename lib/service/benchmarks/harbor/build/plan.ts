import { posix } from 'node:path'
import type { Machine } from '#lib/service/engine/bubblewrap/system.ts'
import { isRootFolder } from '#lib/service/engine/engine.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import type { Healthcheck } from '../task-toml.ts'
import {
  execForm,
  heredocText,
  heredocWord,
  type Instruction,
  parseDockerfile,
  SandboxBuildFailedError,
  wordOf,
  wordsOf,
} from './dockerfile.ts'

/** The steps that make a devbox what a Dockerfile describes. */
export interface BuildPlan {
  steps: BuildStep[]
  /** The variables of every command in the image. */
  env: Record<string, string>
  workdir: string
  /** Of USER; null for root, or where a devbox has no other. */
  user: string | null
  /** What its container starts with; null where that is Harbor's own command alone. */
  entrypoint: string[] | null
  healthcheck: Healthcheck | null
  /** The image of FROM; empty where nothing names one. */
  image: string
  /** What its ONBUILD says, for the stages that begin with it. */
  triggers: Instruction[]
  /** What comes before it in the Dockerfile, by its number; of these it needs what its copies name. */
  stages: readonly BuildPlan[]
  warnings: Warning[]
}

export type BuildStep =
  | { kind: 'workdir'; line: number; path: string }
  | {
      kind: 'run'
      line: number
      argv: string[]
      env: Record<string, string>
      cwd: string
      user: string | null
      said: string
      mounts: RunMount[]
    }
  | {
      kind: 'copy'
      line: number
      /** The stage that has the sources; null for the build context. */
      from: number | null
      sources: string[]
      to: string
      isFolder: boolean
      mode: string | null
      owner: string | null
      extracts: boolean
    }
  | {
      kind: 'fetch'
      line: number
      url: string
      /** A folder where it ends with a slash. */
      to: string
      checksum: string | null
      mode: string | null
      owner: string | null
    }
  | { kind: 'write'; line: number; to: string; content: string; mode: string | null; owner: string | null }

/** What a RUN finds in place of what is there, and is gone after it. */
export interface RunMount {
  target: string
  /** Where a bind takes it from: the stage, or the build context, and the path there; null for an empty folder. */
  source: { from: number | null; path: string } | null
}

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What BuildKit knows of the machine without being told. */
const platform = { OS: 'linux', ARCH: process.arch === 'x64' ? 'amd64' : process.arch, VARIANT: '' }
const platformArgs = Object.fromEntries(
  ['TARGET', 'BUILD'].flatMap((side) => [
    [`${side}PLATFORM`, `${platform.OS}/${platform.ARCH}`],
    ...Object.entries(platform).map(([part, value]) => [side + part, value]),
  ]),
) as Record<string, string>

const usualShell = ['/bin/sh', '-c']

// Harbor runs a command of its own in place of CMD.
const ignored = ['CMD', 'EXPOSE', 'LABEL', 'MAINTAINER', 'VOLUME', 'STOPSIGNAL']
const systemFolders = /^\/(bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr)(\/|$)/

/**
 * Reads a Dockerfile as far as it can be followed without Docker, on what the machine gives to devboxes. Throws a
 * SandboxBuildFailedError where it cannot.
 */
export const planBuild = (dockerfile: string, machine: Machine, path = defaultPath): BuildPlan =>
  new DockerfileReader(machine, path).read(dockerfile)

/** How to tell what is the matter with a line of the Dockerfile. */
interface Line {
  /** It is wrong. */
  fail: Fail
  /** Docker could follow it. */
  cannot: Fail
  /** It is followed in part. */
  warn: (what: string) => void
}

class DockerfileReader {
  readonly #machine: Machine
  readonly #path: string
  readonly #stages: BuildPlan[] = []
  readonly #warnings: Warning[] = []
  /** Of stages, by what they are called. */
  readonly #numbers = new Map<string, number>()
  /** Those of before the first FROM, which a stage has to name again. */
  readonly #globals = new Map(Object.entries(platformArgs))
  /** The stage that is being read, and what holds in it from this line on; none before the first FROM. */
  #plan: BuildPlan
  #hasBegun = false
  #variables = this.#globals
  #args: Record<string, string> = {}
  #shell = usualShell

  constructor(machine: Machine, path: string) {
    this.#machine = machine
    this.#path = path
    this.#plan = this.#stageFrom('')
  }

  read(dockerfile: string): BuildPlan {
    const instructions = parseDockerfile(dockerfile)
    for (let next = instructions.shift(); next; next = instructions.shift()) {
      if (ignored.includes(next.name)) continue
      const line = this.#lineOf(next)
      if (next.name === 'FROM') instructions.unshift(...this.#from(next, line))
      else if (this.#hasBegun || next.name === 'ARG') this.#follow(next, line)
      else line.fail(`${next.name} comes before FROM`)
    }
    if (!this.#hasBegun) throw new SandboxBuildFailedError('The Dockerfile has no FROM')
    return this.#plan
  }

  #lineOf({ line }: Instruction): Line {
    const said = (problem: string) => `Dockerfile line ${line}: ${problem}`
    return {
      fail: (problem) => {
        throw new SandboxBuildFailedError(said(problem))
      },
      cannot: (problem) => {
        throw new SandboxBuildFailedError(said(problem), { differs: true })
      },
      warn: (what) => this.#warnings.push({ sentence: said(what), differs: true }),
    }
  }

  /** Begins a stage; what the one it builds on has kept for this moment comes next. */
  #from({ text }: Instruction, { cannot }: Line): Instruction[] {
    const [image = '', , alias] = wordsOf(text, this.#globals)
    if (this.#hasBegun) {
      this.#stages.push(this.#plan)
      if (!this.#machine.hasSystem) cannot('several stages need systems of their own, which devboxes do not have here')
    }
    this.#hasBegun = true
    this.#plan = this.#stageFrom(image)
    this.#variables = new Map(Object.entries(this.#plan.env))
    this.#args = {}
    this.#shell = usualShell
    const triggers = this.#stageCalled(image)?.triggers ?? []
    if (alias !== undefined) this.#numbers.set(alias.toLowerCase(), this.#stages.length)
    return triggers
  }

  #stageFrom(image: string): BuildPlan {
    const before = this.#stageCalled(image)
    if (before) return { ...before, steps: [...before.steps], env: { ...before.env }, triggers: [] }
    const nothing = { steps: [], workdir: '/', user: null, entrypoint: null, healthcheck: null, triggers: [] }
    return { ...nothing, env: { PATH: this.#path }, image, stages: this.#stages, warnings: this.#warnings }
  }

  #stageCalled(name: string): BuildPlan | undefined {
    return this.#stages[this.#numbers.get(name.toLowerCase()) ?? -1]
  }

  #stageNumber(name: string): number | null {
    return this.#numbers.get(name.toLowerCase()) ?? (this.#stages[Number(name)] ? Number(name) : null)
  }

  #follow(instruction: Instruction, line: Line): void {
    const plan = this.#plan
    const { name, text } = instruction
    switch (name) {
      case 'ARG':
        this.#arg(text)
        break
      case 'ENV':
        for (const [key, value] of assignments(text, this.#variables, line.fail)) {
          plan.env[key] = value
          this.#variables.set(key, value)
        }
        break
      case 'WORKDIR': {
        const path = wordsOf(text, this.#variables)[0] || line.fail('WORKDIR names no folder')
        plan.workdir = posix.resolve(plan.workdir, path)
        plan.steps.push({ kind: 'workdir', line: instruction.line, path: plan.workdir })
        break
      }
      case 'SHELL':
        this.#shell = execForm(text) ?? line.fail('SHELL needs a JSON array')
        if (!/^(\/bin\/|\/usr\/bin\/)?(ba|da)?sh$/.test(this.#shell[0] ?? ''))
          line.cannot(`there is no shell ${this.#shell[0]} here`)
        break
      case 'USER':
        this.#user(text, line)
        break
      case 'RUN':
        plan.steps.push(this.#run(instruction, line))
        break
      case 'COPY':
      case 'ADD':
        plan.steps.push(...this.#copy(instruction, line))
        break
      case 'ENTRYPOINT': {
        const argv = execForm(text) ?? [...this.#shell, text]
        plan.entrypoint = argv.length > 0 ? argv : null
        break
      }
      case 'ONBUILD':
        plan.triggers.push(...parseDockerfile(text).map((trigger) => ({ ...trigger, line: instruction.line })))
        break
      case 'HEALTHCHECK':
        plan.healthcheck = healthcheckOf(instruction, this.#shell, line.fail)
        break
      default:
        line.cannot(`${name} cannot be followed without Docker`)
    }
  }

  #arg(text: string): void {
    for (const word of wordsOf(text, this.#variables)) {
      const [key = '', ...value] = word.split('=')
      const given = value.length > 0 ? value.join('=') : this.#globals.get(key)
      if (given === undefined || Object.hasOwn(this.#plan.env, key)) continue
      this.#args[key] = given
      this.#variables.set(key, given)
    }
  }

  #user(text: string, { fail, warn }: Line): void {
    const user = wordsOf(text, this.#variables)[0] ?? fail('USER names no user')
    const isRoot = /^(root|0)(:(root|0))?$/.test(user)
    // Unspecified: what USER means in a devbox that has one user. Everything runs as that one.
    this.#plan.user = isRoot || !this.#machine.hasUsers ? null : user
    if (!isRoot && !this.#machine.hasUsers) warn(`USER ${text} is ignored: a devbox has one user here`)
  }

  #run(instruction: Instruction, { warn }: Line): BuildStep {
    const { workdir, env, user } = this.#plan
    const stageNumber = (name: string) => this.#stageNumber(name)
    const mounts = mountsOf(instruction, workdir, { variables: this.#variables, stageNumber, warn })
    return runStep(instruction, { shell: this.#shell, env: { ...this.#args, ...env }, cwd: workdir, user, mounts })
  }

  #copy(instruction: Instruction, line: Line): BuildStep[] {
    const { name, flags } = instruction
    const variables = this.#variables
    const named = flags.from && wordsOf(flags.from, variables)[0]
    const from = named ? this.#stageNumber(named) : null
    // Unspecified: what an image that cannot be fetched leaves out. The build goes on without it, and says so.
    if (named && (from === null || from === this.#stages.length)) {
      line.warn(`skipped: ${name} --from=${named}: no other image is here`)
      return []
    }
    return copySteps(instruction, { variables, cwd: this.#plan.workdir, from, machine: this.#machine, ...line })
  }
}

/** The numbers of the stages that a build needs, each after those it needs itself. */
export const neededStages = (plan: BuildPlan): number[] => {
  const named = plan.steps.flatMap((step) =>
    step.kind === 'copy' ? [step.from] : step.kind === 'run' ? step.mounts.map(({ source }) => source?.from) : [],
  )
  const direct = named.filter((number) => typeof number === 'number')
  const all = direct.flatMap((number) => [...neededStages(plan.stages[number] as BuildPlan), number])
  return [...new Set(all)]
}

/** Whether files of the image are to run with the rights of their owner, which no file of a devbox does. */
export const givesRights = (plan: BuildPlan): boolean =>
  plan.steps.some((step) => {
    if (step.kind === 'workdir') return false
    return step.kind === 'run' ? chmodToOwner.test(step.argv.join(' ')) : /^0?[4-7]\d{3}$/.test(step.mode ?? '')
  })
const chmodToOwner = /\bchmod\s+(?:-\S+\s+)*(?:0?[4-7]\d{3}|(?:[a-z+=,-]*,)?[ugoa]*[+=][rwxXt]*s[rwxXt]*)\b/

/** With the times that Docker gives it where the Dockerfile does not. */
const healthcheckOf = ({ text, flags }: Instruction, shell: readonly string[], fail: Fail): Healthcheck | null => {
  if (/^NONE$/i.test(text)) return null
  const [, command] = /^CMD\s+([\s\S]+)$/i.exec(text) ?? []
  if (command === undefined) return fail('HEALTHCHECK needs CMD or NONE')
  const argv = execForm(command) ?? [...shell, command]
  const seconds = (flag: string, usual: number) =>
    flags[flag] === undefined ? usual : (secondsOf(flags[flag]) ?? fail(`--${flag}=${flags[flag]} is no time`)) || usual
  const interval_sec = seconds('interval', 30)
  return {
    command: argv.map(quote).join(' '),
    interval_sec,
    timeout_sec: seconds('timeout', 30),
    // Docker waits for one interval before the first check. Here checks begin at once, and none of that time counts.
    start_period_sec: seconds('start-period', 0) + interval_sec,
    start_interval_sec: Math.min(seconds('start-interval', 5), interval_sec, 1),
    retries: Number(flags.retries) || 3,
  }
}

/** A duration as Go writes it. */
const secondsOf = (text: string): number | undefined => {
  const units: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 }
  if (!/^(\d+(\.\d+)?(h|ms|m|s|us|µs|ns))+$|^0$/.test(text)) return undefined
  const parts = text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g)
  return [...parts].reduce((sum, [, number, unit = '']) => sum + Number(number) * (units[unit] ?? 0), 0)
}

/** The folders at `/` that the build and the task write to, to be kept on the disk of the devbox. */
export const rootFoldersOf = (plan: BuildPlan | undefined, workdir: string | null): string[] => {
  const mounts = (plan?.steps ?? []).flatMap((step) => (step.kind === 'run' ? step.mounts : []))
  const places = [...(plan?.steps ?? []).map(placeOf), ...mounts.map(({ target }) => target)]
  const paths = [workdir ?? '/', plan?.workdir ?? '/', ...places]
  const names = paths.map((path) => path.split('/')[1] ?? '')
  // /opt is read-only unless the devbox has its own; other folders that commands make at / may be in memory.
  if (plan?.steps.some((step) => step.kind === 'run' && /(^|[\s"'=:>])\/opt\b/.test(step.argv.join(' '))))
    names.push('opt')
  // /tests and /solution must not be there before the trial puts them there.
  const later = ['tests', 'solution', '']
  // The commands of a Dockerfile may expect that folders they make are not there.
  const usual = plan ? [] : ['app', 'workspace', 'data']
  return [...new Set(['logs', 'root', ...usual, ...names])].filter(
    (name) => !later.includes(name) && isRootFolder(name),
  )
}

/** A file at `/` itself needs no folder. */
const placeOf = (step: BuildStep): string => {
  if (step.kind === 'workdir') return step.path
  if (step.kind === 'run') return '/'
  const isFolder = (step.kind === 'copy' && step.isFolder) || step.to.indexOf('/', 1) !== -1
  return isFolder ? step.to : '/'
}

type Fail = (problem: string) => never

const assignments = (text: string, variables: ReadonlyMap<string, string>, fail: Fail): [string, string][] => {
  const words = wordsOf(text, variables)
  const isName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
  // The old form `ENV name rest of the line`.
  if (!words[0]?.includes('=')) {
    const [, name = '', value = ''] = /^(\S+)\s+([\s\S]*)$/.exec(text) ?? []
    if (!isName(name)) fail('ENV needs NAME=value')
    return [[name, wordOf(value, variables)]]
  }
  return words.map((word) => {
    const at = word.indexOf('=')
    if (at === -1 || !isName(word.slice(0, at))) fail(`ENV ${word} is no NAME=value`)
    return [word.slice(0, at), word.slice(at + 1)]
  })
}

/** Those of secrets are left out: a build by Harbor gets none either. */
const mountsOf = (
  { mounts }: Instruction,
  cwd: string,
  {
    variables,
    stageNumber,
    warn,
  }: {
    variables: ReadonlyMap<string, string>
    stageNumber: (name: string) => number | null
    warn: (what: string) => void
  },
): RunMount[] =>
  mounts.flatMap((mount) => {
    const pairs = wordOf(mount, variables)
      .split(',')
      .map((each) => each.split('='))
    const given = (...names: string[]) =>
      pairs
        .find(([name = '']) => names.includes(name))
        ?.slice(1)
        .join('=')
    const target = given('target', 'dst', 'destination')
    const type = given('type') ?? 'bind'
    if (target === undefined || !['bind', 'cache', 'tmpfs'].includes(type)) return []
    const named = type === 'bind' ? given('from') : undefined
    const from = named ? stageNumber(named) : null
    if (named && from === null) {
      warn(`skipped: RUN --mount from ${named}: no other image is here`)
      return []
    }
    const source = type === 'bind' ? { from, path: given('source', 'src') ?? '.' } : null
    return [{ target: posix.resolve(cwd, target), source }]
  })

interface RunSurroundings {
  shell: string[]
  env: Record<string, string>
  cwd: string
  user: string | null
  mounts: RunMount[]
}

const runStep = ({ text, heredocs, line }: Instruction, { shell, ...around }: RunSurroundings): BuildStep => {
  const said = text.replace(/\s+/g, ' ').slice(0, 200)
  const exec = execForm(text)
  if (exec) return { kind: 'run', line, argv: exec, ...around, said }
  const script = scriptOf(text, heredocs)
  const shebang = heredocs.length === 1 && isOnlyHeredoc(text) ? /^#!\s*(\S+)([^\n]*)/.exec(script) : null
  // A heredoc with the shebang of another language is run by that, not by the shell.
  if (shebang && !/sh$/.test(shebang[1] ?? '') && !/env\s+(ba|da)?sh/.test(shebang[0]))
    return { kind: 'run', line, argv: ['/bin/sh', '-c', withInterpreter(script, shebang[0])], ...around, said }
  // A login shell sets PATH anew.
  const isLogin = shell.some((word) => /^(-[a-z]*l[a-z]*|--login)$/.test(word))
  const path = isLogin ? 'PATH="$DEVDECK_BUILD_PROGRAMS:$PATH"\n' : ''
  return { kind: 'run', line, argv: [...shell, path + script], ...around, said }
}

const isOnlyHeredoc = (text: string) => !/\s/.test(text) && heredocWord.test(text)

const scriptOf = (text: string, heredocs: Instruction['heredocs']): string => {
  if (heredocs.length > 0 && isOnlyHeredoc(text)) return heredocs.map(({ content }) => content).join('')
  return [text, ...heredocs.map(({ name, content }) => `${content}${name}`)].join('\n')
}

const withInterpreter = (script: string, shebang: string): string =>
  `f=$(mktemp) && printf %s ${quote(script)} >"$f" && ${shebang.slice(2).trim()} "$f"`

interface CopySurroundings extends Line {
  variables: ReadonlyMap<string, string>
  cwd: string
  from: number | null
  machine: Machine
}

const copySteps = (
  instruction: Instruction,
  { variables, cwd, from, machine: { hasSystem, hasUsers }, warn, fail, cannot }: CopySurroundings,
): BuildStep[] => {
  const { name, text, flags, heredocs, line } = instruction
  for (const flag of Object.keys(flags)) {
    if (flag === 'chown') {
      if (!hasUsers) warn(`${name} --chown is ignored: a devbox has one user here`)
    } else if (!['from', 'chmod', 'link', 'keep-git-dir', 'checksum'].includes(flag))
      cannot(`${name} --${flag} is not supported`)
  }
  const words = execForm(text)?.map((word) => wordOf(word, variables)) ?? wordsOf(text, variables)
  const last = words.pop()
  if (last === undefined || words.length === 0) return fail(`${name} needs a source and a destination`)
  const to = posix.resolve(cwd, last)
  if (!hasSystem && systemFolders.test(`${to}/`))
    cannot(`${name} to ${to}: the system's folders are read-only in a devbox here`)
  const mode = flags.chmod ? wordOf(flags.chmod, variables) : null
  const owner = hasUsers && flags.chown ? wordOf(flags.chown, variables) : null
  const isFolder = last.endsWith('/') || last === '.' || words.length > 1
  const files = words.filter((word) => heredocs.length === 0 || !heredocWord.test(word))
  const isFetched = (source: string) => name === 'ADD' && /^https?:/.test(source) && !/\.git(#|$)/.test(source)
  for (const source of files)
    if (/^(https?|git|ssh):|^git@/.test(source) && !isFetched(source)) cannot(`${name} ${source} is not supported`)
  const steps: BuildStep[] = heredocs.map(({ name: word, content, quoted }) => ({
    kind: 'write',
    line,
    to: isFolder ? posix.join(to, word) : to,
    content: quoted ? content : heredocText(content, variables),
    mode,
    owner,
  }))
  const checksum = flags.checksum ? wordOf(flags.checksum, variables) : null
  for (const url of files.filter(isFetched))
    steps.push({ kind: 'fetch', line, url, to: isFolder ? posix.join(to, '/') : to, checksum, mode, owner })
  const sources = files.filter((source) => !isFetched(source))
  if (sources.length > 0)
    steps.push({ kind: 'copy', line, from, sources, to, isFolder, mode, owner, extracts: name === 'ADD' })
  return steps
}
