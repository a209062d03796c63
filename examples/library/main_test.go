package main

import (
	"context"
	"fmt"
	"os"
)

// The whole output, read by a person.
func Example() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Which tools each model sees:
	//   archivist  delete_document (propose) edit_document (execute) list_documents (read) read_document (read)
	//   guide      list_documents (read) read_document (read)
	//
	// Why, in the words that only the owner gets to see:
	// guide for vera in library: edit_document
	// refused (above_ceiling), by view 3
	// -> guide: no, above_ceiling: a model whose only role is viewer reads
	//    guide: no, no_permission: docs:edit is allowed on no target
	//
	// archivist for ivan in library: edit_document /history/rome/fall-of-rome
	// allowed (role), by view 4
	// -> archivist: yes on /history/rome/fall-of-rome, role: editor has docs:edit
	// -> ivan: yes on /history/rome/fall-of-rome, allow_override: the override of ivan at /history allows docs:edit
	//
	// archivist for ivan in library: edit_document /science/physics/light
	// refused (deny_override), by view 5
	// -> archivist: no on /science/physics/light, deny_override: the override of archivist at /science denies docs:edit
	//    archivist: yes on /science/physics/light, role: editor has docs:edit
	//
	// archivist for vera in library: edit_document /history/rome/fall-of-rome
	// refused (no_permission), by view 6
	// -> archivist: yes on /history/rome/fall-of-rome, role: editor has docs:edit
	// -> vera: no on /history/rome/fall-of-rome, no_permission: neither role nor override gives docs:edit here
	//
	// archivist for ivan in library: read_document /history/sealed/letters
	// refused (deny_override), by view 7
	// -> archivist: yes on /history/sealed/letters, role: editor has docs:read
	// -> ivan: no on /history/sealed/letters, deny_override: the override of ivan at /history/sealed denies docs:read
	//    ivan: yes on /history/sealed/letters, role: viewer has docs:read
	//
	// Who may edit below /history/rome: [ivan olga]
	// What ivan may do below /science: [read_document]
	//
	// Ivan asks the archivist to tidy up:
	//   list_documents {}
	//       done ["/history/rome/fall-of-rome","/history/rome/old-notes","/science/physics/light"]
	//   edit_document {"path": "/history/rome/fall-of-rome", "text": "Rome fell slowly."}
	//       done "saved"
	//   edit_document {"path": "/science/physics/light", "text": "Light is heavy."}
	//       forbidden There is no such record, or it is not one you may act on.
	//   edit_document {"path": "/history/rome/../../science/physics/light", "text": "Light is heavy."}
	//       forbidden There is no such record, or it is not one you may act on.
	//   delete_document {"path": "/history/rome/old-notes"}
	//       needs_approval This needs a person's approval and waits for it. Nothing has been changed yet.
	//   Olga opens it and reads: Delete "/history/rome/old-notes" for good.
	//   Olga approves: it is done.
	//
	// Vera asks the guide, which only reads, to change a document:
	//   edit_document {"path": "/history/rome/fall-of-rome", "text": "Rome never fell."}
	//       unknown There is no such tool.
	//
	// Olga takes the advance approval back, and the archivist has to ask again:
	//   edit_document {"path": "/history/rome/fall-of-rome", "text": "Rome fell quickly."}
	//       needs_approval This needs a person's approval and waits for it. Nothing has been changed yet.
	//
	// The audit trail:
	//   09:00:03 read      list_documents   done           archivist for ivan in library
	//   09:00:06 proposed  edit_document    needs_approval archivist for ivan in library
	//   09:00:06 started   edit_document    done           archivist for ivan in library approved by olga in advance
	//   09:00:06 finished  edit_document    done           archivist for ivan in library approved by olga in advance
	//   09:00:09 refused   edit_document    forbidden      archivist for ivan in library
	//   09:00:12 refused   edit_document    forbidden      archivist for ivan in library
	//   09:00:15 proposed  delete_document  needs_approval archivist for ivan in library
	//   09:00:15 started   delete_document  done           archivist for ivan in library approved by olga
	//   09:00:15 finished  delete_document  done           archivist for ivan in library approved by olga
	//   09:00:18 refused   edit_document    unavailable    guide for vera in library
	//   09:00:21 proposed  edit_document    needs_approval archivist for ivan in library
}
