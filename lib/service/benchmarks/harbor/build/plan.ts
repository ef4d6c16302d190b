import { posix } from 'node:path'
import type { Machine } from '#lib/service/engine/bubblewrap/system.ts'
import { isRootFolder } from '#lib/service/engine/root-folders.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { Warning } from '../../outcome.ts'
import {
  execForm,
  heredocWord,
  type Instruction,
  parseDockerfile,
  SandboxBuildFailedError,
  wordOf,
  wordsOf,
} from './dockerfile.ts'

export interface BuildPlan {
  steps: BuildStep[]
  env: Record<string, string>
  workdir: string
  /** From USER; null for root, or where a devbox has a single user. */
  user: string | null
  image: string
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
      text: string
    }
  | {
      kind: 'copy'
      line: number
      sources: string[]
      to: string
      isFolder: boolean
      mode: string | null
      owner: string | null
      extracts: boolean
    }

export const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The arguments BuildKit predefines. */
const arch = process.arch === 'x64' ? 'amd64' : process.arch
const platformArgs = ['TARGET', 'BUILD'].flatMap((side): [string, string][] => [
  [`${side}PLATFORM`, `linux/${arch}`],
  [`${side}OS`, 'linux'],
  [`${side}ARCH`, arch],
  [`${side}VARIANT`, ''],
])

const defaultShell = ['/bin/sh', '-c']

// Harbor replaces CMD; the others do not change what the image contains.
const ignored = ['CMD', 'EXPOSE', 'LABEL', 'MAINTAINER', 'VOLUME', 'STOPSIGNAL']
const systemFolders = /^\/(bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr)(\/|$)/

/** Plans a build without Docker. Unsupported instructions are skipped with a warning that the environment differs. */
export const planBuild = (
  dockerfile: string,
  machine: Machine,
  path = defaultPath,
  { args = {}, env = {} }: { args?: Record<string, string>; env?: Record<string, string> } = {},
): BuildPlan => {
  const globals = new Map(platformArgs)
  const stages = new Map<string, BuildPlan>()
  let stage: StagePlanner | undefined
  for (const instruction of parseDockerfile(dockerfile)) {
    const { name, text, line } = instruction
    if (ignored.includes(name)) continue
    const fail = (problem: string): never => {
      throw new SandboxBuildFailedError(`Dockerfile line ${line}: ${problem}`)
    }
    const skip = (what: string) =>
      void stage?.plan.warnings.push({
        sentence: `Dockerfile line ${line}: skipped: ${what} is not supported`,
        differs: true,
      })
    if (name === 'FROM') {
      // Only the last stage is built, with those it is based on; COPY --from another one is skipped with a warning.
      const [image = '', , alias] = wordsOf(text, globals)
      const base = stages.get(image.toLowerCase())
      const plan = base
        ? { ...base, steps: [...base.steps], env: { ...base.env }, warnings: [...base.warnings] }
        : { steps: [], env: { PATH: path, ...env }, workdir: '/', user: null, image, warnings: [] }
      stage = new StagePlanner(plan, machine, globals, args)
      if (alias !== undefined) stages.set(alias.toLowerCase(), plan)
    } else if (stage) stage.add(instruction, { fail, skip })
    else if (name === 'ARG') for (const [key, value] of argsOf(text, globals, { given: args })) globals.set(key, value)
    else fail(`${name} comes before FROM`)
  }
  if (!stage) throw new SandboxBuildFailedError('The Dockerfile has no FROM')
  return stage.plan
}

interface Report {
  fail: (problem: string) => never
  skip: (what: string) => void
}

class StagePlanner {
  readonly plan: BuildPlan
  readonly #machine: Machine
  readonly #globals: ReadonlyMap<string, string>
  readonly #given: Record<string, string>
  readonly #variables: Map<string, string>
  readonly #args: Record<string, string> = {}
  #shell = defaultShell

  constructor(plan: BuildPlan, machine: Machine, globals: ReadonlyMap<string, string>, given: Record<string, string>) {
    this.#given = given
    this.plan = plan
    this.#machine = machine
    this.#globals = globals
    this.#variables = new Map(Object.entries(plan.env))
  }

  add(instruction: Instruction, report: Report): void {
    const { plan } = this
    const { name, text, flags, line } = instruction
    switch (name) {
      case 'ARG':
        for (const [key, value] of argsOf(text, this.#variables, { given: this.#given, globals: this.#globals })) {
          if (Object.hasOwn(plan.env, key)) continue
          this.#args[key] = value
          this.#variables.set(key, value)
        }
        break
      case 'ENV':
        for (const [key, value] of assignments(text, this.#variables, report.fail)) {
          plan.env[key] = value
          this.#variables.set(key, value)
        }
        break
      case 'WORKDIR': {
        const path = wordsOf(text, this.#variables)[0] || report.fail('WORKDIR needs a path')
        plan.workdir = posix.resolve(plan.workdir, path)
        plan.steps.push({ kind: 'workdir', line, path: plan.workdir })
        break
      }
      case 'SHELL':
        this.#shell = execForm(text) ?? report.fail('SHELL needs a JSON array')
        if (/^(\/bin\/|\/usr\/bin\/)?(ba|da)?sh$/.test(this.#shell[0] ?? '')) break
        report.skip(`SHELL ${text}`)
        this.#shell = defaultShell
        break
      case 'USER':
        this.#user(text, report)
        break
      case 'RUN':
        if (hasMountedFiles(flags.mount)) report.skip(`RUN --mount=${flags.mount}`)
        plan.steps.push(this.#run(instruction))
        break
      case 'COPY':
      case 'ADD':
        plan.steps.push(...this.#copy(instruction, report))
        break
      default:
        report.skip(`${name} ${text}`)
    }
  }

  #user(text: string, { fail, skip }: Report): void {
    const user = wordsOf(text, this.#variables)[0] ?? fail('USER needs a name')
    const isRoot = /^(root|0)(:(root|0))?$/.test(user)
    // Unspecified: USER in a devbox with a single user. Everything runs as that one.
    this.plan.user = isRoot || !this.#machine.hasUsers ? null : user
    if (!isRoot && !this.#machine.hasUsers) skip(`USER ${text}`)
  }

  #run({ text, heredocs, line }: Instruction): BuildStep {
    const { workdir, env, user } = this.plan
    const step = {
      kind: 'run' as const,
      line,
      env: { ...this.#args, ...env },
      cwd: workdir,
      user,
      text: text.replace(/\s+/g, ' ').slice(0, 200),
    }
    const argv = execForm(text)
    if (argv) return { ...step, argv }
    const isOnlyHeredoc = heredocs.length > 0 && !/\s/.test(text) && heredocWord.test(text)
    const script = isOnlyHeredoc
      ? heredocs.map(({ content }) => content).join('')
      : [text, ...heredocs.map(({ name, content }) => content + name)].join('\n')
    const shebang = isOnlyHeredoc ? /^#!(.+)/.exec(script)?.[1] : undefined
    if (shebang !== undefined) {
      const runFile = `f=$(mktemp) && printf %s ${quote(script)} >"$f" && ${shebang.trim()} "$f"`
      return { ...step, argv: ['/bin/sh', '-c', runFile] }
    }
    // A login shell resets PATH.
    const isLogin = this.#shell.some((word) => /^(-[a-z]*l[a-z]*|--login)$/.test(word))
    return { ...step, argv: [...this.#shell, (isLogin ? 'PATH="$DEVDECK_BUILD_PROGRAMS:$PATH"\n' : '') + script] }
  }

  #copy({ name, text, flags, heredocs, line }: Instruction, { fail, skip }: Report): BuildStep[] {
    const { hasSystem, hasUsers } = this.#machine
    const words = execForm(text)?.map((word) => wordOf(word, this.#variables)) ?? wordsOf(text, this.#variables)
    const last = words.pop()
    if (last === undefined || words.length === 0) return fail(`${name} needs a source and a destination`)
    const to = posix.resolve(this.plan.workdir, last)
    const unknownFlag = Object.entries(flags).find(([flag]) => !['chmod', 'chown', 'link'].includes(flag))
    const isRemote = words.some((source) => /^(https?|git|ssh):|^git@/.test(source))
    const isReadOnly = !hasSystem && systemFolders.test(`${to}/`)
    if (unknownFlag || isRemote || isReadOnly || heredocs.length > 0) {
      skip(`${name} ${unknownFlag ? `--${unknownFlag.join('=')} ` : ''}${text}`)
      return []
    }
    if (!hasUsers && flags.chown) skip(`${name} --chown`)
    const step: BuildStep = {
      kind: 'copy',
      line,
      sources: words,
      to,
      isFolder: last.endsWith('/') || last === '.' || words.length > 1,
      mode: flags.chmod ? wordOf(flags.chmod, this.#variables) : null,
      owner: hasUsers && flags.chown ? wordOf(flags.chown, this.#variables) : null,
      extracts: name === 'ADD',
    }
    return [step]
  }
}

/** Caches start empty, and Harbor builds without secrets, too: those mounts make no difference. */
const hasMountedFiles = (mounts = '') =>
  mounts.split(' ').some((mount) => mount !== '' && !/(^|,)type=(cache|tmpfs|secret|ssh)(,|$)/.test(mount))

const argsOf = (
  text: string,
  variables: ReadonlyMap<string, string>,
  { given, globals = new Map() }: { given: Record<string, string>; globals?: ReadonlyMap<string, string> },
): [string, string][] =>
  wordsOf(text, variables).flatMap((word): [string, string][] => {
    const [key = '', ...rest] = word.split('=')
    const value = Object.hasOwn(given, key) ? given[key] : rest.length > 0 ? rest.join('=') : globals.get(key)
    return value === undefined ? [] : [[key, value]]
  })

const assignments = (
  text: string,
  variables: ReadonlyMap<string, string>,
  fail: Report['fail'],
): [string, string][] => {
  const words = wordsOf(text, variables)
  const isName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
  // The old form: `ENV name rest of the line`.
  if (!words[0]?.includes('=')) {
    const [, name = '', value = ''] = /^(\S+)\s+([\s\S]*)$/.exec(text) ?? []
    if (!isName(name)) fail('ENV needs NAME=value')
    return [[name, wordOf(value, variables)]]
  }
  return words.map((word) => {
    const at = word.indexOf('=')
    if (at === -1 || !isName(word.slice(0, at))) fail(`ENV ${word} is not NAME=value`)
    return [word.slice(0, at), word.slice(at + 1)]
  })
}

/** True if the build makes setuid files, which no devbox honors. */
export const hasSetuidFiles = (plan: BuildPlan): boolean =>
  plan.steps.some((step) => {
    if (step.kind === 'run') return chmodSetuid.test(step.argv.join(' '))
    return step.kind === 'copy' && /^0?[4-7]\d{3}$/.test(step.mode ?? '')
  })
const chmodSetuid = /\bchmod\s+(?:-\S+\s+)*(?:0?[4-7]\d{3}|(?:[a-z+=,-]*,)?[ugoa]*[+=][rwxXt]*s[rwxXt]*)\b/

/** The folders at `/` that the build and the task write to, to be kept on the disk of the devbox. */
export const rootFoldersOf = (plan: BuildPlan | undefined, workdir: string | null): string[] => {
  const steps = plan?.steps ?? []
  const paths = [workdir ?? '/', plan?.workdir ?? '/', ...steps.map(targetOf)]
  const names = paths.map((path) => path.split('/')[1] ?? '')
  // /opt is read-only unless the devbox has its own; other folders at / may be in memory.
  if (steps.some((step) => step.kind === 'run' && /(^|[\s"'=:>])\/opt\b/.test(step.argv.join(' ')))) names.push('opt')
  // /tests and /solution must not exist before the trial copies them there.
  const later = ['tests', 'solution', '']
  // A Dockerfile may expect that the folders it makes do not exist.
  const common = plan ? [] : ['app', 'workspace', 'data']
  return [...new Set(['logs', 'root', ...common, ...names])].filter(
    (name) => !later.includes(name) && isRootFolder(name),
  )
}

const targetOf = (step: BuildStep): string => {
  if (step.kind === 'workdir') return step.path
  // A file at `/` itself needs no folder.
  return step.kind === 'copy' && (step.isFolder || step.to.indexOf('/', 1) !== -1) ? step.to : '/'
}
