import { posix } from 'node:path'
import * as z from 'zod/mini'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import type { Scenario, Scorer, ScorerType } from '#lib/contract/scenarios.ts'
import { type FunctionResult, weightedScore } from '#lib/service/domain/scenario-runs.ts'
import { meetsConstraint } from '#lib/service/domain/version-constraint.ts'
import { jsonOf } from '#lib/service/kit/json.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import {
  fromZeroToOne,
  lastScore,
  numberInLastLine,
  requireDirectory,
  runScorer,
  type Scored,
  type ScorerBench,
  ScorerError,
  writeTestFile,
} from './scorer.ts'
import { maxVariableBytes, quotePath } from './workbench.ts'

interface ScoringContext {
  scenario: Pick<Scenario, 'input_context' | 'reference_output' | 'environment' | 'scoring_contract'>
  bench: ScorerBench
  customScorer: (type: string) => string | undefined
}

interface Score {
  score: number
  output: string
}

/** A failed scoring function counts 0. Rejects only if the devbox is not running or the service stops. */
export const runScoringFunctions = async (context: ScoringContext): Promise<ScoringResult> => {
  const functions = context.scenario.scoring_contract.scoring_function_parameters
  const results: FunctionResult[] = []
  for (const { name, scorer } of functions) {
    const named = { scoring_function_name: name }
    try {
      await requireDirectory(context.bench)
      results.push({ ...named, ...(await score(scorer, context)), state: 'complete' })
    } catch (error) {
      if (!(error instanceof ScorerError)) throw error
      results.push({ ...named, score: 0, output: withReason(error), state: 'error' })
    }
  }
  return { score: weightedScore(functions, results), scoring_function_results: results }
}

const withReason = ({ message, output }: ScorerError) =>
  `${output === '' || output.endsWith('\n') ? output : `${output}\n`}devdeck: ${message}`

type Scorers = { [T in ScorerType]: (scorer: Extract<Scorer, { type: T }>, context: ScoringContext) => Promise<Score> }

const score = (scorer: Scorer, context: ScoringContext): Promise<Score> =>
  (scorers[scorer.type] as (scorer: Scorer, context: ScoringContext) => Promise<Score>)(scorer, context)

const scorers: Scorers = {
  command_scorer: async ({ command }, { bench }) => {
    if (!command) throw new ScorerError('The command scorer has no command')
    return byExitStatus(await runScorer(bench, command))
  },

  bash_script_scorer: async ({ bash_script }, { bench }) => {
    if (!bash_script) throw new ScorerError('The bash script scorer has no script')
    return byLine(await runScorer(bench, bash_script))
  },

  python_script_scorer: (scorer, { bench }) => scorePython(scorer, bench),

  test_based_scorer: async ({ test_command, test_files }, { bench }) => {
    if (!test_command) throw new ScorerError('The test based scorer has no test command')
    for (const { file_path, file_contents } of test_files ?? []) {
      const path = testFilePath(file_path)
      if (path === undefined)
        throw new ScorerError(`The test file ${JSON.stringify(file_path ?? '')} is not below the working directory`)
      await writeTestFile(bench, path, file_contents ?? '')
    }
    return byExitStatus(await runScorer(bench, test_command))
  },

  ast_grep_scorer: async ({ pattern, search_directory, lang }, { bench }) => {
    const folder = quotePath(search_directory || '.')
    const language = lang ? `--lang ${quote(lang)}` : ''
    const found = await runScorer(
      bench,
      [
        'tool=$(command -v ast-grep) || exit 127',
        `[[ -e ${folder} ]] || { printf '%s: No such file or directory\\n' ${folder} >&2; exit 126; }`,
        `exec "$tool" run --pattern ${quote(asTyped(pattern))} ${language} --json=stream -- ${folder}`,
      ].join('\n'),
    )
    if (found.exitStatus === 127)
      throw new ScorerError('This scorer needs ast-grep, which the devbox does not have', found.output)
    // Like grep, ast-grep exits with 1 if nothing matches.
    if (found.exitStatus > 1) throw new ScorerError(`ast-grep exited with ${found.exitStatus}`, found.output)
    return { score: found.stdout.trim() === '' ? 0 : 1, output: found.output }
  },

  custom_scorer: async ({ custom_scorer_type, scorer_params }, context) => {
    const script = context.customScorer(custom_scorer_type)
    if (script === undefined) throw new ScorerError(`Custom scorer ${custom_scorer_type} does not exist`)
    const finished = await runScorer(context.bench, script, {
      RL_SCORER_CONTEXT: scorerContext(scorer_params, context),
    })
    // Unspecified: how a custom scorer reports its score. Like a bash script scorer, or as a number on the last line.
    return byLine(finished, numberInLastLine)
  },
}

export const testFilePath = (path: string | null | undefined): string | undefined => {
  if (!path || path.includes('\0') || path.startsWith('/') || path.endsWith('/')) return undefined
  const plain = posix.normalize(path)
  return plain === '.' || plain === '..' || plain.startsWith('../') ? undefined : plain
}

/**
 * Unspecified: the content of RL_SCORER_CONTEXT. The scorer's parameters are top-level keys, as in the public examples,
 * with the fields of the scenario if everything fits in a variable.
 */
const scorerContext = (params: unknown, { scenario }: ScoringContext): string => {
  const own = typeof params === 'object' && params !== null && !Array.isArray(params) ? params : {}
  const about = {
    input_context: scenario.input_context,
    reference_output: scenario.reference_output ?? null,
    working_directory: scenario.environment?.working_directory ?? null,
  }
  const whole = JSON.stringify({ ...about, scorer_params: params ?? {}, ...own })
  if (Buffer.byteLength(whole) <= maxVariableBytes) return whole
  const alone = JSON.stringify(params ?? {})
  if (Buffer.byteLength(alone) <= maxVariableBytes) return alone
  throw new ScorerError(`The scorer's parameters are larger than ${maxVariableBytes} bytes`)
}

const byExitStatus = ({ exitStatus, output }: Scored): Score => ({ score: exitStatus === 0 ? 1 : 0, output })

/** Unspecified: which of several scores counts, and the exit status. The last score counts, whatever the status. */
const byLine = (finished: Scored, otherwise: (text: string) => string | undefined = () => undefined): Score => {
  const { stdout, output, exitStatus } = finished
  const text = lastScore(stdout) ?? otherwise(stdout)
  if (text === undefined)
    throw new ScorerError(`The output has no line score=<number>; exit code ${exitStatus}`, output)
  return { score: fromZeroToOne(text, output), output }
}

const asTyped = (pattern: string) => pattern.replace(/\\([$"`\\])/g, '$1')

type PythonScorer = Extract<Scorer, { type: 'python_script_scorer' }>

/** Runs the script with the devbox's python3. Installs nothing: a missing package or another version is an error. */
const scorePython = async (scorer: PythonScorer, bench: ScorerBench) => {
  const { python_script, python_version_constraint, requirements_contents } = scorer
  await requirePython(bench, python_version_constraint ?? '', requirementsIn(requirements_contents ?? ''))
  const { exitStatus, stdout, output } = await bench.workbench.lend('scorer', python_script, (path) =>
    runScorer(
      bench,
      `PYTHONDONTWRITEBYTECODE=1 exec python3 -c ${quote(appendWorkingDirectory + runScript)} ${quote(path)}`,
    ),
  )
  if (exitStatus !== 0) throw new ScorerError(`The script exited with ${exitStatus}`, output)
  const text = numberInLastLine(stdout)
  if (text === undefined) throw new ScorerError('The last output line is not a number', output)
  return { score: fromZeroToOne(text, output), output }
}

interface Requirement {
  name: string
  constraint: string
}

const requirementsIn = (text: string): Requirement[] =>
  text
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, constraint = ''] = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*([^;@]*)$/.exec(line) ?? []
      if (!name || meetsConstraint('1', constraint) === undefined)
        throw new ScorerError(`The requirement ${JSON.stringify(line)} is not supported`)
      return { name, constraint }
    })

const Found = z.object({ version: z.string(), packages: z.array(z.nullable(z.string())) })

// The script may import from the working directory, but files of the agent there must not replace standard modules.
const appendWorkingDirectory = 'import sys; sys.path.append(sys.path.pop(0))\n'

const runScript = `
import runpy
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
`

// Python before 3.8 has no importlib.metadata, so it is imported only if needed.
const versionScript = `
import json, platform
def version(name):
    from importlib import metadata
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
print(json.dumps({"version": platform.python_version(), "packages": [version(name) for name in sys.argv[1:]]}))
`

const requirePython = async (bench: ScorerBench, constraint: string, requirements: readonly Requirement[]) => {
  const names = requirements.map(({ name }) => quote(name)).join(' ')
  const { exitStatus, stdout, output } = await runScorer(
    bench,
    `command -v python3 >/dev/null || exit 127\nexec python3 -c ${quote(appendWorkingDirectory + versionScript)} ${names}`,
  )
  if (exitStatus === 127) throw new ScorerError('This scorer needs python3, which the devbox does not have', output)
  // A sitecustomize in the devbox may have printed something before the JSON.
  const found = exitStatus === 0 ? Found.safeParse(jsonOf(stdout)).data : undefined
  if (!found) throw new ScorerError(`The devbox's python3 does not work: it exited with ${exitStatus}`, output)
  const meets = meetsConstraint(found.version, constraint)
  if (meets === undefined) throw new ScorerError(`The Python version constraint ${constraint} is invalid`)
  if (!meets) throw new ScorerError(`The devbox has Python ${found.version}; the scorer needs ${constraint}`)
  const missing = requirements.filter(({ constraint }, i) => {
    const version = found.packages[i]
    return !version || !meetsConstraint(version, constraint)
  })
  if (missing.length > 0)
    throw new ScorerError(
      `Packages cannot be installed, and the devbox lacks ${missing.map(({ name, constraint }) => name + constraint).join(', ')}`,
    )
}
