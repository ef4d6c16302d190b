import type { System } from '#lib/service/sandbox/sandbox.ts'
import { makeSystemBase, systemProblem } from '#lib/service/sandbox/system.ts'

/** What the environments of tasks are made of, for all trials of the service. */
export class Environments {
  readonly #folder: string

  /** `folder` has what systems begin with. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** What a trial's system begins with; undefined where trials have none of their own. */
  async begin(): Promise<Omit<System, 'own'> | undefined> {
    if ((await systemProblem()) !== undefined) return undefined
    return { base: await makeSystemBase(this.#folder), layers: [] }
  }
}
