;; Does in Emacs what a user does, and writes what was to be seen as JSON to the file $SEEN.
(package-initialize)
(require 'eglot)
(require 'json)
(load-file (getenv "CONFIG"))

(defun wait-for (what condition)
  (with-timeout (60 (error "waited in vain for %s" what))
    (while (not (funcall condition))
      (accept-process-output nil 0.1))))

(defun diagnostics ()
  (mapcar (lambda (each)
            (list (cons 'text (buffer-substring (flymake-diagnostic-beg each)
                                                (flymake-diagnostic-end each)))
                  (cons 'message (flymake-diagnostic-text each))))
          (flymake-diagnostics)))

(defun hover ()
  (let ((server (eglot--current-server-or-lose)))
    (plist-get (plist-get (jsonrpc-request server :textDocument/hover
                                           (eglot--TextDocumentPositionParams))
                          :contents)
               :value)))

(defvar seen nil)
(defvar titles nil)

(defun see (name value)
  (push (cons name value) seen))

;; The menu of code actions is answered as the user does: with the one whose title begins so.
(defun completing-read (_prompt items &rest _)
  (setq titles (mapcar #'car items))
  (seq-find (lambda (title) (string-prefix-p (getenv "ACTION") title)) titles))

(condition-case problem
    (progn
      (find-file (getenv "PROGRAM"))
      (setq eglot-sync-connect 60)
      (apply #'eglot--connect (eglot--guess-contact))
      (flymake-mode 1)
      (wait-for "diagnostics" (lambda () (flymake-start) (flymake-diagnostics)))
      (see 'diagnostics (diagnostics))
      (goto-char (point-min))
      (search-forward (getenv "AT"))
      (see 'hover (hover))
      (let ((last-nonmenu-event t))
        (call-interactively #'eglot-code-actions))
      (see 'actions titles)
      (wait-for "the edit" #'buffer-modified-p)
      (save-buffer)
      (wait-for "the diagnostic to go" (lambda () (flymake-start) (not (flymake-diagnostics)))))
  (error (see 'problem (error-message-string problem))))

(with-temp-file (getenv "SEEN")
  (insert (json-encode seen)))
