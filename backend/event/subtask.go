package event

// TopicSubtask is the topic of the notice that a sub-task has ended, and the source of a turn that such
// a notice or the message of the session above has opened.
const TopicSubtask = "subtask"

// ParentSpeaker begins the user id of the session above, where it speaks to its sub-task.
const ParentSpeaker = "parent:"

// WaitSubtasks is the tool that waits for sub-tasks. What it waits for in the background it tells of
// itself, so that nothing else may open a turn for it.
const WaitSubtasks = "wait_subtasks"
