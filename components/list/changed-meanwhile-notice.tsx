import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { type Described, flattenDescription } from '#lib/browser/api/edit-conflict.ts'
import { MetadataChanges } from './metadata-changes.tsx'

interface ChangedMeanwhileNoticeProps {
  base: Described
  now: Described
  onTakeTheirs: () => void
  onSaveMine: () => void
}

/** What somebody else saved while this form was open, and the two ways on. */
export const ChangedMeanwhileNotice = ({ base, now, onTakeTheirs, onSaveMine }: ChangedMeanwhileNoticeProps) => (
  <Banner tone="attention" role="alert" title="It was changed meanwhile; nothing is saved yet">
    <div className="mt-2 space-y-3">
      <MetadataChanges
        title="What changed meanwhile"
        before={flattenDescription(base)}
        after={flattenDescription(now)}
      />
      <div className="flex flex-wrap gap-2">
        <Button size="sm" onClick={onTakeTheirs}>
          Start from theirs
        </Button>
        <Button size="sm" onClick={onSaveMine}>
          Save mine over it
        </Button>
      </div>
    </div>
  </Banner>
)
