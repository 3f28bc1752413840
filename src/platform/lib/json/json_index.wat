;; Finds the structural characters of a JSON text with vector instructions, 64 bytes at a time. The method is that of
;; Langdale and Lemire, "Parsing Gigabytes of JSON per Second" (VLDB Journal 2019), section 3.1.
;;
;; Memory: one piece of the text from 0 to 65,535, then the found offsets as 32-bit integers. A text is passed piece by
;; piece. The globals hold the state between two pieces.
(module
  (memory (export "memory") 5)

  ;; 1 if the first byte of the next block is the second character of an escape, else 0.
  (global $escaped (mut i64) (i64.const 0))
  ;; All bits set if the next block starts inside a string, else 0.
  (global $inString (mut i64) (i64.const 0))
  ;; 1 if a byte above 0x7f was found, else 0.
  (global $hasHigh (mut i32) (i32.const 0))
  ;; 1 if a string contained a control character or an escape that JSON does not define, else 0.
  (global $isInvalid (mut i32) (i32.const 0))

  ;; Resets the state for a new text.
  (func (export "start")
    (global.set $escaped (i64.const 0))
    (global.set $inString (i64.const 0))
    (global.set $hasHigh (i32.const 0))
    (global.set $isInvalid (i32.const 0)))

  (func (export "hasHigh") (result i32) (global.get $hasHigh))
  (func (export "isInvalid") (result i32) (global.get $isInvalid))

  ;; The upper bits of the 64 bytes of four vectors.
  (func $bits (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result i64)
    (i64.or
      (i64.extend_i32_u (i32.or
        (i8x16.bitmask (local.get $a)) (i32.shl (i8x16.bitmask (local.get $b)) (i32.const 16))))
      (i64.shl
        (i64.extend_i32_u (i32.or
          (i8x16.bitmask (local.get $c)) (i32.shl (i8x16.bitmask (local.get $d)) (i32.const 16))))
        (i64.const 32))))

  ;; Where a vector has brackets, braces, colons and commas. A bracket and the brace of the same direction differ only
  ;; in bit 5.
  (func $operators (param $bytes v128) (result v128) (local $folded v128)
    (local.set $folded (v128.or (local.get $bytes) (i8x16.splat (i32.const 0x20))))
    (v128.or
      (v128.or
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x2c)))
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x3a))))
      (v128.or
        (i8x16.eq (local.get $folded) (i8x16.splat (i32.const 0x7b)))
        (i8x16.eq (local.get $folded) (i8x16.splat (i32.const 0x7d))))))

  ;; Where a vector has rarer letters that may follow a backslash and are not indexed there. The table has them by their
  ;; lower four bits, except "r", which shares these bits with "b".
  (func $escapable (param $bytes v128) (result v128)
    (v128.or
      (i8x16.eq (local.get $bytes) (i8x16.swizzle
        (v128.const i8x16 0xff 0 0x62 0 0x74 0 0x66 0 0 0 0 0 0 0 0 0)
        (v128.and (local.get $bytes) (i8x16.splat (i32.const 0x0f)))))
      (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x72)))))

  ;; Where a vector has "u" or "/".
  (func $listed (param $bytes v128) (result v128)
    (v128.or
      (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x75)))
      (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x2f)))))

  ;; Where a vector has quotes or backslashes.
  (func $special (param $bytes v128) (result v128)
    (v128.or
      (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
      (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))

  ;; Indexes a piece of $length bytes, padded with spaces to a multiple of 64. Writes the offsets of
  ;; - brackets, braces, colons and commas outside strings,
  ;; - quotes that start or end a string,
  ;; - the second characters of the escapes \u and \/,
  ;; each increased by $base, and returns their number.
  (func (export "index") (param $length i32) (param $base i32) (result i32)
    (local $at i32) (local $out i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $high v128) (local $chars v128)
    (local $lowest v128) (local $hasControl i32)
    (local $quote i64) (local $backslash i64) (local $second i64) (local $codes i64) (local $found i64)
    (local.set $out (i32.const 65536))
    (block $end
      (loop $blocks
        (br_if $end (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $a (v128.load (local.get $at)))
        (local.set $b (v128.load offset=16 (local.get $at)))
        (local.set $c (v128.load offset=32 (local.get $at)))
        (local.set $d (v128.load offset=48 (local.get $at)))
        (local.set $high (v128.or (local.get $high) (v128.or
          (v128.or (local.get $a) (local.get $b)) (v128.or (local.get $c) (local.get $d)))))

        ;; The lowest byte of each column: below 0x20 if a column has a control character.
        (local.set $lowest (i8x16.min_u
          (i8x16.min_u (local.get $a) (local.get $b)) (i8x16.min_u (local.get $c) (local.get $d))))
        (local.set $hasControl (v128.any_true (i8x16.lt_u (local.get $lowest) (i8x16.splat (i32.const 0x20)))))

        ;; Most blocks of a long text are within its string and have nothing to find.
        (local.set $found (i64.const 0))
        (if (i32.eqz (v128.any_true (v128.or
            (v128.or (call $special (local.get $a)) (call $special (local.get $b)))
            (v128.or (call $special (local.get $c)) (call $special (local.get $d))))))
          (then
            (if (i64.eqz (i64.or (i64.xor (global.get $inString) (i64.const -1)) (global.get $escaped)))
              (then
                (if (local.get $hasControl) (then (global.set $isInvalid (i32.const 1))))
                (local.set $at (i32.add (local.get $at) (i32.const 64)))
                (br $blocks)))))

        (local.set $chars (i8x16.splat (i32.const 0x22)))
        (local.set $quote (call $bits
          (i8x16.eq (local.get $a) (local.get $chars)) (i8x16.eq (local.get $b) (local.get $chars))
          (i8x16.eq (local.get $c) (local.get $chars)) (i8x16.eq (local.get $d) (local.get $chars))))
        (local.set $chars (i8x16.splat (i32.const 0x5c)))
        (local.set $backslash (call $bits
          (i8x16.eq (local.get $a) (local.get $chars)) (i8x16.eq (local.get $b) (local.get $chars))
          (i8x16.eq (local.get $c) (local.get $chars)) (i8x16.eq (local.get $d) (local.get $chars))))

        ;; $second: the second characters of escapes, that is, those after an odd number of backslashes.
        (local.set $second (global.get $escaped))
        (if (i64.ne (i64.const 0) (i64.or (local.get $backslash) (local.get $second)))
          (then
            (local.set $codes (i64.and (local.get $backslash) (i64.xor (local.get $second) (i64.const -1))))
            (local.set $codes (i64.xor (i64.const 0xaaaaaaaaaaaaaaaa) (i64.sub
              (i64.or (i64.shl (local.get $codes) (i64.const 1)) (i64.const 0xaaaaaaaaaaaaaaaa))
              (local.get $codes))))
            (local.set $second (i64.xor (local.get $codes) (i64.or (local.get $backslash) (local.get $second))))
            (global.set $escaped
              (i64.shr_u (i64.and (local.get $codes) (local.get $backslash)) (i64.const 63)))
            ;; $codes: the second characters other than the usual ones, which are quotes, backslashes and "n".
            (local.set $chars (i8x16.splat (i32.const 0x6e)))
            (local.set $codes (i64.and (local.get $second) (i64.xor (i64.const -1) (i64.or
              (i64.or (local.get $quote) (local.get $backslash))
              (call $bits
                (i8x16.eq (local.get $a) (local.get $chars)) (i8x16.eq (local.get $b) (local.get $chars))
                (i8x16.eq (local.get $c) (local.get $chars)) (i8x16.eq (local.get $d) (local.get $chars)))))))
            (local.set $quote (i64.and (local.get $quote) (i64.xor (local.get $second) (i64.const -1))))
            (if (i64.ne (i64.const 0) (local.get $codes))
              (then
                (local.set $codes (i64.and (local.get $codes) (i64.xor (i64.const -1) (call $bits
                  (call $escapable (local.get $a)) (call $escapable (local.get $b))
                  (call $escapable (local.get $c)) (call $escapable (local.get $d))))))
                (if (i64.ne (i64.const 0) (local.get $codes))
                  (then
                    (local.set $found (i64.and (local.get $codes) (call $bits
                      (call $listed (local.get $a)) (call $listed (local.get $b))
                      (call $listed (local.get $c)) (call $listed (local.get $d)))))
                    (if (i64.ne (local.get $found) (local.get $codes))
                      (then (global.set $isInvalid (i32.const 1))))))))))

        ;; $codes becomes the bytes from each opening quote to the byte before the closing one: each bit is the
        ;; exclusive or of the bits of $quote up to it.
        (local.set $codes (global.get $inString))
        (if (i64.ne (i64.const 0) (local.get $quote))
          (then
            (local.set $second (i64.xor (local.get $quote) (i64.shl (local.get $quote) (i64.const 1))))
            (local.set $second (i64.xor (local.get $second) (i64.shl (local.get $second) (i64.const 2))))
            (local.set $second (i64.xor (local.get $second) (i64.shl (local.get $second) (i64.const 4))))
            (local.set $second (i64.xor (local.get $second) (i64.shl (local.get $second) (i64.const 8))))
            (local.set $second (i64.xor (local.get $second) (i64.shl (local.get $second) (i64.const 16))))
            (local.set $second (i64.xor (local.get $second) (i64.shl (local.get $second) (i64.const 32))))
            (local.set $codes (i64.xor (local.get $codes) (local.get $second)))
            (global.set $inString (i64.shr_s (local.get $codes) (i64.const 63)))))

        (if (local.get $hasControl)
          (then
            (local.set $chars (i8x16.splat (i32.const 0x20)))
            (if (i64.ne (i64.const 0) (i64.and (local.get $codes) (call $bits
                (i8x16.lt_u (local.get $a) (local.get $chars)) (i8x16.lt_u (local.get $b) (local.get $chars))
                (i8x16.lt_u (local.get $c) (local.get $chars)) (i8x16.lt_u (local.get $d) (local.get $chars)))))
              (then (global.set $isInvalid (i32.const 1))))))

        (local.set $found (i64.or (local.get $found) (local.get $quote)))
        (if (i64.ne (local.get $codes) (i64.const -1))
          (then
            (local.set $found (i64.or (local.get $found) (i64.and
              (i64.xor (local.get $codes) (i64.const -1))
              (call $bits
                (call $operators (local.get $a)) (call $operators (local.get $b))
                (call $operators (local.get $c)) (call $operators (local.get $d))))))))
        (block $none
          (loop $offsets
            (br_if $none (i64.eqz (local.get $found)))
            (i32.store (local.get $out) (i32.add
              (i32.add (local.get $base) (local.get $at))
              (i32.wrap_i64 (i64.ctz (local.get $found)))))
            (local.set $out (i32.add (local.get $out) (i32.const 4)))
            (local.set $found (i64.and (local.get $found) (i64.sub (local.get $found) (i64.const 1))))
            (br $offsets)))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $blocks)))
    (if (i8x16.bitmask (local.get $high)) (then (global.set $hasHigh (i32.const 1))))
    (i32.shr_u (i32.sub (local.get $out) (i32.const 65536)) (i32.const 2)))
)
