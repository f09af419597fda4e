;; Scans of vectors. `.ci/kernel.ts` makes kernel-bytes.ts of this file, twice: lines that end with ";; relaxed" are only in
;; the module for processors with a dot product of bytes, those with ";; plain" only in the other. Both give equal scores.
;;
;; $block holds rows and is shared between threads, which only read it. $scratch belongs to one thread: mask, query and
;; what was found. A row is a multiple of 64 bytes. One is read after the other, so that the processor sees one stream: four
;; at a time save loads of the query, and where memory is the limit take twice as long.
(module
  (import "memory" "block" (memory $block 1 65536 shared))
  (import "memory" "scratch" (memory $scratch 1 65536))

  ;; Scores rows $from to before $to and writes those that the mask lets through and that reach $least, as pairs of row (i32)
  ;; and score (f32), to $scratch at $out. $mask is the address of the mask byte of row 0; eight bytes behind the last one
  ;; can be read. $room says how many pairs there is room for. A row's score is (dot - 64 * sum) * scale: the query's bytes
  ;; are in [1, 127], its numbers plus 64. A row without a vector has the scale NaN, which reaches nothing.
  ;; Gives the row where it stopped, which is not before $to unless room ran out, and how many pairs it wrote.
  (func (export "scanInt8")
    (param $rows i32) (param $scales i32) (param $sums i32) (param $stride i32)
    (param $from i32) (param $to i32) (param $mask i32) (param $query i32)
    (param $out i32) (param $room i32) (param $least f32)
    (result i32 i32)
    (local $row i32) (local $at i32) (local $end i32) (local $q i32) (local $score f32) (local $reported i32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local $a v128) (local $b v128) ;; plain
    (local.set $row (local.get $from))
    (block $done
      (loop $next_row
        (br_if $done (i32.ge_u (local.get $row) (local.get $to)))
        (if (i32.eqz (i32.load8_u $scratch (i32.add (local.get $mask) (local.get $row)))) (then
          (local.set $row (i32.add (local.get $row)
            (select (i32.const 8) (i32.const 1)
              (i64.eqz (i64.load $scratch (i32.add (local.get $mask) (local.get $row)))))))
          (br $next_row)))
        (br_if $done (i32.ge_u (local.get $reported) (local.get $room)))
        (local.set $at (i32.add (local.get $rows) (i32.mul (local.get $row) (local.get $stride))))
        (local.set $end (i32.add (local.get $at) (local.get $stride)))
        (local.set $q (local.get $query))
        (local.set $s0 (v128.const i32x4 0 0 0 0))
        (local.set $s1 (v128.const i32x4 0 0 0 0))
        (local.set $s2 (v128.const i32x4 0 0 0 0))
        (local.set $s3 (v128.const i32x4 0 0 0 0))
        (loop $next_bytes
          (local.set $s0 (i32x4.relaxed_dot_i8x16_i7x16_add_s (v128.load (local.get $at)) (v128.load $scratch (local.get $q)) (local.get $s0))) ;; relaxed
          (local.set $s1 (i32x4.relaxed_dot_i8x16_i7x16_add_s (v128.load offset=16 (local.get $at)) (v128.load $scratch offset=16 (local.get $q)) (local.get $s1))) ;; relaxed
          (local.set $s2 (i32x4.relaxed_dot_i8x16_i7x16_add_s (v128.load offset=32 (local.get $at)) (v128.load $scratch offset=32 (local.get $q)) (local.get $s2))) ;; relaxed
          (local.set $s3 (i32x4.relaxed_dot_i8x16_i7x16_add_s (v128.load offset=48 (local.get $at)) (v128.load $scratch offset=48 (local.get $q)) (local.get $s3))) ;; relaxed
          (local.set $a (v128.load (local.get $at))) ;; plain
          (local.set $b (v128.load $scratch (local.get $q))) ;; plain
          (local.set $s0 (i32x4.add (local.get $s0) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $a)) (i16x8.extend_low_i8x16_s (local.get $b))))) ;; plain
          (local.set $s0 (i32x4.add (local.get $s0) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $a)) (i16x8.extend_high_i8x16_s (local.get $b))))) ;; plain
          (local.set $a (v128.load offset=16 (local.get $at))) ;; plain
          (local.set $b (v128.load $scratch offset=16 (local.get $q))) ;; plain
          (local.set $s1 (i32x4.add (local.get $s1) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $a)) (i16x8.extend_low_i8x16_s (local.get $b))))) ;; plain
          (local.set $s1 (i32x4.add (local.get $s1) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $a)) (i16x8.extend_high_i8x16_s (local.get $b))))) ;; plain
          (local.set $a (v128.load offset=32 (local.get $at))) ;; plain
          (local.set $b (v128.load $scratch offset=32 (local.get $q))) ;; plain
          (local.set $s2 (i32x4.add (local.get $s2) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $a)) (i16x8.extend_low_i8x16_s (local.get $b))))) ;; plain
          (local.set $s2 (i32x4.add (local.get $s2) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $a)) (i16x8.extend_high_i8x16_s (local.get $b))))) ;; plain
          (local.set $a (v128.load offset=48 (local.get $at))) ;; plain
          (local.set $b (v128.load $scratch offset=48 (local.get $q))) ;; plain
          (local.set $s3 (i32x4.add (local.get $s3) (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $a)) (i16x8.extend_low_i8x16_s (local.get $b))))) ;; plain
          (local.set $s3 (i32x4.add (local.get $s3) (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $a)) (i16x8.extend_high_i8x16_s (local.get $b))))) ;; plain
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (br_if $next_bytes
              (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
        (local.set $s0 (i32x4.add
          (i32x4.add (local.get $s0) (local.get $s1))
          (i32x4.add (local.get $s2) (local.get $s3))))
        (local.set $s0 (i32x4.add (local.get $s0)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $s0) (local.get $s0))))
        (local.set $at (i32.shl (local.get $row) (i32.const 2)))
        (local.set $score (f32.mul
          (f32.load (i32.add (local.get $scales) (local.get $at)))
          (f32.convert_i32_s (i32.sub
            (i32.add (i32x4.extract_lane 0 (local.get $s0)) (i32x4.extract_lane 1 (local.get $s0)))
            (i32.shl (i32.load (i32.add (local.get $sums) (local.get $at))) (i32.const 6))))))
        (if (f32.ge (local.get $score) (local.get $least)) (then
          (i32.store $scratch (local.get $out) (local.get $row))
          (f32.store $scratch offset=4 (local.get $out) (local.get $score))
          (local.set $out (i32.add (local.get $out) (i32.const 8)))
          (local.set $reported (i32.add (local.get $reported) (i32.const 1)))))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $next_row)))
    (local.get $row)
    (local.get $reported))

  ;; Writes the dot product of each row from $from to before $to with the query to $scratch at $out, as f32.
  (func (export "scanFloat32")
    (param $rows i32) (param $stride i32) (param $from i32) (param $to i32) (param $query i32) (param $out i32)
    (local $row i32) (local $at i32) (local $end i32) (local $q i32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local.set $row (local.get $from))
    (block $done
      (loop $next_row
        (br_if $done (i32.ge_u (local.get $row) (local.get $to)))
        (local.set $at (i32.add (local.get $rows) (i32.mul (local.get $row) (local.get $stride))))
        (local.set $end (i32.add (local.get $at) (local.get $stride)))
        (local.set $q (local.get $query))
        (local.set $s0 (v128.const i32x4 0 0 0 0))
        (local.set $s1 (v128.const i32x4 0 0 0 0))
        (local.set $s2 (v128.const i32x4 0 0 0 0))
        (local.set $s3 (v128.const i32x4 0 0 0 0))
        (loop $next_numbers
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (v128.load (local.get $at)) (v128.load $scratch (local.get $q)))))
          (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (v128.load offset=16 (local.get $at)) (v128.load $scratch offset=16 (local.get $q)))))
          (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (v128.load offset=32 (local.get $at)) (v128.load $scratch offset=32 (local.get $q)))))
          (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (v128.load offset=48 (local.get $at)) (v128.load $scratch offset=48 (local.get $q)))))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (br_if $next_numbers
            (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
        (local.set $s0 (f32x4.add
          (f32x4.add (local.get $s0) (local.get $s1))
          (f32x4.add (local.get $s2) (local.get $s3))))
        (local.set $s0 (f32x4.add (local.get $s0)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $s0) (local.get $s0))))
        (f32.store $scratch (local.get $out)
          (f32.add (f32x4.extract_lane 0 (local.get $s0)) (f32x4.extract_lane 1 (local.get $s0))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $next_row))))

  ;; Writes in how many bits each row from $from to before $to differs from the query to $scratch at $out, as u16.
  (func (export "scanBits")
    (param $rows i32) (param $stride i32) (param $from i32) (param $to i32) (param $query i32) (param $out i32)
    (local $row i32) (local $at i32) (local $end i32) (local $q i32) (local $n0 i64) (local $n1 i64)
    (local.set $row (local.get $from))
    (block $done
      (loop $next_row
        (br_if $done (i32.ge_u (local.get $row) (local.get $to)))
        (local.set $at (i32.add (local.get $rows) (i32.mul (local.get $row) (local.get $stride))))
        (local.set $end (i32.add (local.get $at) (local.get $stride)))
        (local.set $q (local.get $query))
        (local.set $n0 (i64.const 0))
        (local.set $n1 (i64.const 0))
        (loop $next_bits
          (local.set $n0 (i64.add (local.get $n0) (i64.popcnt (i64.xor (i64.load (local.get $at)) (i64.load $scratch (local.get $q))))))
          (local.set $n1 (i64.add (local.get $n1) (i64.popcnt (i64.xor (i64.load offset=8 (local.get $at)) (i64.load $scratch offset=8 (local.get $q))))))
          (local.set $n0 (i64.add (local.get $n0) (i64.popcnt (i64.xor (i64.load offset=16 (local.get $at)) (i64.load $scratch offset=16 (local.get $q))))))
          (local.set $n1 (i64.add (local.get $n1) (i64.popcnt (i64.xor (i64.load offset=24 (local.get $at)) (i64.load $scratch offset=24 (local.get $q))))))
          (local.set $n0 (i64.add (local.get $n0) (i64.popcnt (i64.xor (i64.load offset=32 (local.get $at)) (i64.load $scratch offset=32 (local.get $q))))))
          (local.set $n1 (i64.add (local.get $n1) (i64.popcnt (i64.xor (i64.load offset=40 (local.get $at)) (i64.load $scratch offset=40 (local.get $q))))))
          (local.set $n0 (i64.add (local.get $n0) (i64.popcnt (i64.xor (i64.load offset=48 (local.get $at)) (i64.load $scratch offset=48 (local.get $q))))))
          (local.set $n1 (i64.add (local.get $n1) (i64.popcnt (i64.xor (i64.load offset=56 (local.get $at)) (i64.load $scratch offset=56 (local.get $q))))))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (br_if $next_bits
            (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64))) (local.get $end))))
        (i32.store16 $scratch (local.get $out) (i32.wrap_i64 (i64.add (local.get $n0) (local.get $n1))))
        (local.set $out (i32.add (local.get $out) (i32.const 2)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br $next_row)))))
