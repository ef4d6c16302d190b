import { Slots } from '#lib/service/kit/slots.ts'

interface Owner {
  account: string
  job: string
}

export type TrialSlots = Slots<Owner>

/**
 * Limits concurrent trials over all jobs. The next slot goes to the account, then the job, with the fewest running
 * trials, so that a large job does not block a small one.
 */
export const createTrialSlots = (count: number): TrialSlots =>
  new Slots(count, ({ account, job }: Owner, running) => {
    const ofAccount = running.filter((each) => each.account === account)
    return ofAccount.length * count + ofAccount.filter((each) => each.job === job).length
  })
