import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Over 20 s each on two cores. Last in a run, one of them would keep a single worker busy.
const slowest = [
  'lib/service/devboxes/',
  'lib/service/engine/swarm/',
  'lib/service/engine/container/',
  'lib/service/benchmarks/harbor/',
  'lib/service/benchmarks/samples',
  'lib/service/routes/files',
  'lib/service/routes/tunnels',
  'lib/service/routes/executions',
  'lib/service/cli/commands',
]

/** Starts the slowest files first. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isSlow = ({ moduleId }: TestSpecification) => slowest.some((part) => moduleId.includes(part))
    const sorted = await super.sort(files)
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}
