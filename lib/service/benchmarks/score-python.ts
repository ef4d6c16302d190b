import * as z from 'zod/mini'
import type { Scorer } from '#lib/contract/scenarios.ts'
import { meetsConstraint } from '#lib/service/domain/version-constraint.ts'
import { jsonOf } from '#lib/service/kit/json.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { fromZeroToOne, numberInLastLine, runScorer, type ScorerBench, ScorerError } from './scorer.ts'

type PythonScorer = Extract<Scorer, { type: 'python_script_scorer' }>

/** Runs the script with the devbox's python3. Installs nothing: a missing package or another version is an error. */
export const scorePython = async (scorer: PythonScorer, bench: ScorerBench) => {
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
