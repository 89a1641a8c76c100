; SPDX-License-Identifier: Apache-2.0
; A second judge of Seatbelt profiles. SBPL is Scheme, so a real Scheme evaluates the text; what is here are the words of
; the language, written from Apple's own profiles and not from our printer or our C++ reading.
;
; guile sbpl_oracle.scm DIRECTORY COUNT: for each I in 0..COUNT-1 evaluates I.sb and answers the lines of I.ask
; ("operation", a tab, a path) with a line of I.says each: 1 or 0. Anything it does not understand is an error.
(use-modules (ice-9 rdelim) (ice-9 regex) (srfi srfi-1))

(define rules '())  ; (allow? operations predicates), the last one first

(define operations-known
  '(default file-ioctl file-link file-map-executable file-mknod file-read-data file-read-metadata file-read-xattr
    file-revoke file-write-acl file-write-create file-write-data file-write-flags file-write-mode file-write-owner
    file-write-setugid file-write-times file-write-unlink file-write-xattr ipc-posix-sem ipc-posix-shm-read-data
    ipc-posix-shm-write-data mach-lookup network-bind network-inbound network-outbound process-exec process-fork
    process-info-listpids process-info-pidinfo process-info-setcontrol signal sysctl-read sysctl-write system-socket))

(define (covers? pattern operation)
  (let ((pattern (symbol->string pattern)) (operation (symbol->string operation)))
    (cond ((string=? pattern "default") #t)
          ((string-suffix? "*" pattern) (string-prefix? (string-drop-right pattern 1) operation))
          (else (string=? pattern operation)))))

(define (checked pattern)
  (if (any (lambda (known) (covers? pattern known)) operations-known) pattern (error "unknown operation" pattern)))

(define (add-rule! allow? items)
  (let ((operations (map checked (take-while symbol? items)))
        (filters (map (lambda (form) (eval form (current-module))) (drop-while symbol? items))))
    (if (null? operations) (error "a rule without an operation"))
    (set! rules (cons (list allow? operations filters) rules))))

(define-syntax-rule (allow item ...) (add-rule! #t '(item ...)))
(define-syntax-rule (deny item ...) (add-rule! #f '(item ...)))
(define (version number) (if (not (= number 1)) (error "unknown version" number)))

; Filters about paths. The others never match a question about a path; their words must be right all the same.
(define (literal path) (lambda (asked) (string=? asked path)))
(define (subpath path)
  (lambda (asked)
    (or (string=? asked path) (string=? path "/") (string-prefix? (string-append path "/") asked))))
(define (regex text)
  (let ((compiled (make-regexp text regexp/extended))) (lambda (asked) (and (regexp-exec compiled asked) #t))))
(define (never . words) (lambda (asked) #f))
(define (text-only text) (if (string? text) (never) (error "not a text" text)))
(define sysctl-name-prefix text-only)
(define global-name text-only)
(define global-name-prefix text-only)
(define ipc-posix-name text-only)
(define path-literal identity)
(define (ioctl-command number) (if (integer? number) (never) (error "not a number" number)))
(define-syntax-rule (target who) (if (eq? 'who 'same-sandbox) (never) (error "unknown target" 'who)))
(define-syntax-rule (socket-domain name) (if (eq? 'name 'AF_UNIX) (never) (error "unknown domain" 'name)))
(define-syntax-rule (local kind more ...) (if (eq? 'kind 'ip) (never more ...) (error "unknown end" 'kind)))
(define-syntax-rule (remote kind more ...) (if (memq 'kind '(ip unix-socket)) (never more ...) (error "unknown end" 'kind)))

(define (allowed? operation path)
  (let ((found (find (lambda (rule)
                       (and (any (lambda (pattern) (covers? pattern operation)) (second rule))
                            (or (null? (third rule)) (any (lambda (matches?) (matches? path)) (third rule)))))
                     rules)))
    (and found (first found))))

(define (judge name)
  (set! rules '())
  (call-with-input-file (string-append name ".sb")
    (lambda (port)
      (let next ((form (read port)))
        (if (not (eof-object? form)) (begin (eval form (current-module)) (next (read port))))))
    #:encoding "ISO-8859-1")
  (call-with-output-file (string-append name ".says")
    (lambda (out)
      (call-with-input-file (string-append name ".ask")
        (lambda (port)
          (let next ((line (read-line port)))
            (if (not (eof-object? line))
                (let ((tab (string-index line #\tab)))
                  (display (if (allowed? (string->symbol (substring line 0 tab)) (substring line (+ tab 1))) 1 0) out)
                  (newline out)
                  (next (read-line port))))))
        #:encoding "ISO-8859-1"))))

(let ((directory (second (command-line))) (count (string->number (third (command-line)))))
  (do ((i 0 (+ i 1))) ((= i count)) (judge (string-append directory "/" (number->string i)))))
