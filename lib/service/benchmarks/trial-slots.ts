import { Slots } from '#lib/service/kit/slots.ts'

interface Owner {
  account: string
  job: string
}

export type TrialSlots = Slots<Owner>

/**
 * Lets at most so many trials run at once, over all jobs. The next place goes to the account that has the fewest trials
 * running, and among its jobs to the one with the fewest: a job of thousands of trials does not keep a small one waiting.
 */
export const createTrialSlots = (count: number): TrialSlots =>
  new Slots(count, ({ account, job }: Owner, running) => {
    const ofAccount = running.filter((each) => each.account === account)
    return ofAccount.length * count + ofAccount.filter((each) => each.job === job).length
  })
